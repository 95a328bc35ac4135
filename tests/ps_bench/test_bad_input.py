"""Invalid input of all kinds: one line, its remedy, and an exit code."""

import shlex
import shutil
import sqlite3
from pathlib import Path

import pytest

import sitebench as api
from sitebench.errors import BadInput
from sitebench.http.site import OpenSite
from tests.ps_bench.conftest import SHORT, SIZE
from tests.support.cli import in_process, sitebench
from tests.support.http_server import other_site


@pytest.fixture(scope="module")
def upd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of 300 people."""
    path = tmp_path_factory.mktemp("upd") / "people.sqlite"
    assert in_process("ps", "seed", str(path), *SIZE).code == 0
    return path


@pytest.fixture
def mine(upd: Path, tmp_path: Path) -> Path:
    """A database for a test to damage."""
    return Path(shutil.copy(upd, tmp_path / "mine.sqlite"))


@pytest.mark.parametrize(
    "command",
    [
        "ps run",
        "site run",
        "ps run page",
        "ps sweep",
        "ps peak --objective 'p99<1s'",
        "ps vary --vary keepalive=off,on",
    ],
)
def test_foreign_site_without_scenario_is_refused(command: str) -> None:
    """It is refused before any load, because the suite's pages are missing there."""
    with other_site() as (url, asked):
        ran = in_process(*shlex.split(command), "--target", url, *SIZE, *SHORT[:-1])
    ran.refuse(
        2, f"{url} is not sitebench's own site", "run that file", "`sitebench docs scenarios`"
    )
    assert set(asked) == {"GET /"}


def test_foreign_site_without_scenario_is_refused_from_python() -> None:
    with other_site() as (url, asked), pytest.raises(BadInput, match="not sitebench's own site"):
        api.run("page", url)
    assert set(asked) == {"GET /"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'name = "a"\n  get = "/"\n  expct.status = 200\n',
            ("site.toml:4:3: operation[1].expct: unknown key", "expect"),
        ),
        # The engine refuses it.
        (
            'get = "no slash"\nexpect.status = 200\n',
            ("site.toml:2:8: operation[1].get: does not begin with '/'",),
        ),
    ],
)
def test_invalid_scenario_is_refused_with_its_line(
    tmp_path: Path, site: OpenSite, text: str, words: tuple[str, ...]
) -> None:
    file = tmp_path / "site.toml"
    file.write_text(f"[[operation]]\n{text}")
    argv = ("ps", "run", "--target", str(site.address), "--scenario", str(file), *SIZE, *SHORT)
    in_process(*argv).refuse(2, *words)


def test_unsuitable_database_is_refused(mine: Path) -> None:
    other = mine.with_name("other.sqlite")
    for database, statement in (
        (mine, "UPDATE meta SET value = '7' WHERE key = 'schema_version'"),
        (mine, "PRAGMA user_version = 7"),
        (other, "CREATE TABLE t (a)"),
    ):
        with sqlite3.connect(database) as db:
            db.execute(statement)
        db.close()
    run = ("ps", "run", "--database")
    in_process(*run, mine, *SIZE).refuse(2, "schema version 7")
    in_process(*run, other, *SIZE).refuse(2, "no user-property database")


def test_database_of_another_size_is_refused(upd: Path) -> None:
    ran = in_process("ps", "run", "--database", upd, "--entries", "301")
    ran.refuse(2, "holds 300 people, not 301")


def test_truncated_database_is_refused(mine: Path) -> None:
    mine.write_bytes(mine.read_bytes()[:20_000])
    sitebench("ps", "serve", "--database", str(mine), "--port", "0").refuse(2, "mine.sqlite")


def test_locked_database_is_refused(mine: Path) -> None:
    db = sqlite3.connect(mine, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        # A lock of SQLite belongs to a process, so another process must hold it.
        ran = sitebench("ps", "serve", "--database", str(mine), "--port", "0")
    finally:
        db.close()
    ran.refuse(2, "locked by another process")
