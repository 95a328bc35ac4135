"""User-property databases: equal people each time, built once, copied for each use."""

import sqlite3
from pathlib import Path

import pytest

from sitebench.errors import BadInput
from sitebench.seeders.upd import UpdSpec, build, inspect, open_cached, temporary_copy, visitors

LOCALES = ("en_US", "ja_JP")
SPEC = UpdSpec(500, 7, LOCALES)


def rows(path: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as db:
        found = db.execute("SELECT * FROM people ORDER BY id").fetchall()
    db.close()
    return found


def test_database_is_built_once_with_one_row_per_person(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    first = open_cached(SPEC, lambda done, total: heard.append((done, total)), cache=tmp_path)
    assert heard[-1] == (500, 500)
    stamp = first.path.stat().st_mtime_ns
    again = open_cached(SPEC, lambda done, total: pytest.fail("built again"), cache=tmp_path)
    assert again == first
    assert again.path.stat().st_mtime_ns == stamp
    assert len(rows(first.path)) == first.manifest["size"] == 500
    person = visitors(SPEC).visitor(123)
    with sqlite3.connect(first.path) as db:
        db.row_factory = sqlite3.Row
        found = db.execute("SELECT * FROM people WHERE id = 123").fetchone()
    db.close()
    assert (found["name"], found["city"]) == (person["name"], person["city"])
    assert len(found.keys()) >= 12


def test_each_temporary_copy_has_the_rows_of_the_cached_database(tmp_path: Path) -> None:
    upd = open_cached(SPEC, cache=tmp_path)
    before = rows(upd.path)
    with temporary_copy(upd, tmp_path) as copy:
        with sqlite3.connect(copy) as db:
            db.execute("DELETE FROM people")
        db.close()
        assert rows(copy) == []
    assert not copy.exists()
    with temporary_copy(upd, tmp_path) as copy:
        assert rows(copy) == before


def test_truncated_file_in_the_cache_is_rebuilt(tmp_path: Path) -> None:
    upd = open_cached(SPEC, cache=tmp_path)
    whole = upd.path.read_bytes()
    upd.path.write_bytes(whole[: len(whole) // 3])
    assert open_cached(SPEC, cache=tmp_path).path.read_bytes() == whole


def test_each_size_and_seed_has_a_separate_database_file(tmp_path: Path) -> None:
    specs = [SPEC, UpdSpec(400, 7, LOCALES), UpdSpec(500, 8, LOCALES), UpdSpec(500, 7, ("en_US",))]
    assert len({open_cached(spec, cache=tmp_path).path for spec in specs}) == 4


def test_database_of_other_people_is_refused(tmp_path: Path) -> None:
    build(SPEC, tmp_path / "upd.sqlite")
    assert inspect(SPEC, tmp_path / "upd.sqlite").manifest["seed"] == 7
    with pytest.raises(BadInput, match="holds other people"):
        inspect(UpdSpec(500, 8, LOCALES), tmp_path / "upd.sqlite")


def test_exception_of_the_progress_callback_stops_the_build_and_keeps_the_old_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "upd.sqlite"
    path.write_text("something of mine")

    def enough(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(UpdSpec(50_000, 7, LOCALES), path, enough)
    assert path.read_text() == "something of mine"
    assert list(tmp_path.iterdir()) == [path]
