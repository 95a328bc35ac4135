"""Readers of run files read every run file, and leave no file behind."""

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sitebench.errors import BadRunFile
from sitebench.runs import schema
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.drains import Drain, Step
from tests.support.points import a_result, a_spec
from tests.support.runs import finish, write_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs" / "run.sitebench"


def contents(folder: Path) -> dict[str, bytes]:
    # The index of SQLite's log holds the readers' locks, and readers may write it.
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith("-shm")}


def test_reading_a_finished_run_leaves_no_extra_files(path: Path) -> None:
    with RunStore(path) as store:
        store.set_manifest({"seed": 1997})
        finish(store)
    before = contents(path.parent)
    with RunFile(path) as run:
        assert run.manifest() == {"seed": 1997}
        assert run.results() == [a_result()]
        (point,) = run.points()
        assert (point.spec, point.status, point.error) == (a_spec(), "done", None)
        (lookup,) = run.steps(point.id)
        assert (lookup.step, lookup.count) == ("lookup", 20_000)
        assert lookup.clocks["service"].count == 20_000
        assert contents(path.parent) == before
    assert contents(path.parent) == before


def test_unfinished_run_is_read_as_a_snapshot_of_its_opening(path: Path) -> None:
    with RunStore(path) as store:
        store.begin(a_spec())
        point = store.point_id(a_spec().key)
        store.append(point, "ramp", Drain(0, 10**9, (Step("lookup", "lookup", 3),)))
        before = contents(path.parent)
        with RunFile(path) as run:
            assert [p.status for p in run.points()] == ["running"]
            assert contents(path.parent) == before
            store.append(point, "warmup", Drain(10**9, 2 * 10**9, (Step("lookup", "lookup", 4),)))
            assert [(row.phase, row.count) for row in run.timeline(point)] == [("ramp", 3)]
        with RunFile(path) as run:
            assert [row.count for row in run.timeline(point)] == [3, 4]


@pytest.fixture
def copy(path: Path, tmp_path: Path) -> Path:
    """A run file and its log, copied while the run goes on."""
    copy = tmp_path / "copies" / path.name
    copy.parent.mkdir()
    with RunStore(path) as store:
        finish(store)
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    return copy


def test_file_copied_with_its_write_ahead_log_is_read_completely(copy: Path) -> None:
    before = contents(copy.parent)
    with RunFile(copy) as run:
        assert run.results() == [a_result()]
    assert contents(copy.parent) == before
    assert {p.name for p in copy.parent.iterdir()} == {copy.name, f"{copy.name}-wal"}


def test_file_whose_writer_closes_during_the_read_is_read_completely(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copyfile = shutil.copyfile

    def close_first(source: Path, to: Path) -> object:
        # The last writer moves the log into the file and removes it.
        if source.name == copy.name:
            sqlite3.connect(copy).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
            Path(f"{copy}-wal").unlink(missing_ok=True)
        return copyfile(source, to)

    monkeypatch.setattr(shutil, "copyfile", close_first)
    with RunFile(copy) as run:
        assert run.results() == [a_result()]


def test_run_file_of_another_schema_is_refused(path: Path) -> None:
    RunStore(path).close()
    for version, remedy in {4: "measure again", 99: "newer sitebench"}.items():
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {version}")
        for opened in (RunFile, RunStore):
            with pytest.raises(BadRunFile, match=f"has schema {version}") as refused:
                opened(path)
            assert remedy in refused.value.remedy


OPEN = {"failures_by_kind", "figures", "settings", "pressure", "sockets", "directory"}
"""Objects whose keys are data: every reader shows all of them."""


def extended(found: Any, name: str = "") -> Any:
    """Add a key to every object with fixed keys."""
    if isinstance(found, dict):
        more = {} if name in OPEN else {"added_later": [1]}
        return {key: extended(value, key) for key, value in found.items()} | more
    return [extended(each) for each in found] if isinstance(found, list) else found


def test_additional_keys_of_newer_versions_are_ignored(path: Path) -> None:
    with RunStore(path) as store:
        finish(store)
        store.begin(a_spec("add"))
        store.fail(a_spec("add").key, {"kind": "PointFailed", "message": "m", "remedy": "r"})
    with RunFile(path) as run:
        known = (run.points(), run.steps(1), run.timeline(1), run.samples(1))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for column in ("spec", "result"):
            for n, text in db.execute(f"SELECT id, {column} FROM points").fetchall():
                later = json.dumps(extended(json.loads(text))) if text else None
                db.execute(f"UPDATE points SET {column} = ? WHERE id = ?", (later, n))
        for table in ("points", "steps", "timeline", "samples", "manifest"):
            db.execute(f"ALTER TABLE {table} ADD COLUMN added_later TEXT")
        db.execute("CREATE TABLE added_later (x INTEGER)")
    with RunFile(path) as run:
        assert (run.points(), run.steps(1), run.timeline(1), run.samples(1)) == known
        assert run.manifest() == {}
    with RunStore(path) as store:
        assert store.results() == [a_result()]


def test_truncated_run_file_is_refused(path: Path) -> None:
    whole = write_run(path).read_bytes()
    for length in (20, 100, 4096, 5000, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(BadRunFile, match="is damaged"):
            RunFile(path)


def test_file_of_another_kind_is_refused_with_its_kind(tmp_path: Path) -> None:
    other, empty, text = tmp_path / "other", tmp_path / "empty", tmp_path / "text"
    sqlite3.connect(other).execute("CREATE TABLE theirs (x)").connection.close()
    empty.touch()
    text.write_text("operations,per,second\n")
    said = {
        other: "is a database of another program",
        empty: "is empty",
        text: "is not a run file of sitebench",
        tmp_path: "is not a file",
        tmp_path / "absent": "no run file at",
    }
    for path, words in said.items():
        with pytest.raises(BadRunFile, match=words):
            RunFile(path)


def test_documentation_names_every_column_and_the_schema(path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "run-file.md").read_text()
    assert f"now **{schema.VERSION}**" in " ".join(text.split())
    RunStore(path).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        for table in ("manifest", "points", "steps", "timeline", "samples"):
            columns = db.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
            section = text.partition(f"### {table}\n")[2].partition("\n##")[0]
            lines = [line for line in section.splitlines() if line.startswith("| `")]
            named = {name for line in lines for name in line.split("|")[1].split("`")[1::2]}
            assert named == {name for (name,) in columns}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE points SET spec = CAST(x'80' AS TEXT)",
        "UPDATE points SET spec = 5",
        "UPDATE points SET result = '[]'",
        f"UPDATE points SET result = '{'[' * 100_000}'",
        "UPDATE steps SET histogram = x'00' WHERE metric = 'service'",
        "UPDATE steps SET value = value + 1 WHERE metric = 'service'",
        "UPDATE steps SET value = value + 1 WHERE metric = 'count'",
        "DELETE FROM steps WHERE metric = 'service'",
    ],
    ids=lambda damage: damage[:45],
)
def test_impossible_values_are_reported_as_damage(path: Path, damage: str) -> None:
    """Discovered by tests/trust/test_hostile_files.py."""
    write_run(path)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with RunFile(path) as run, pytest.raises(BadRunFile, match="damaged"):
        run.steps(run.points()[0].id)
