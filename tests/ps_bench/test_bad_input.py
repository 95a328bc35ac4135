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


def test_scenario_with_unknown_field_is_refused(tmp_path: Path, site: OpenSite) -> None:
    file = tmp_path / "site.toml"
    file.write_text('[[operation]]\nname = "a"\n  get = "/"\n  expct.status = 200\n')
    ran = in_process(
        *("ps", "run", "--target", str(site.address), "--scenario", str(file), *SIZE, *SHORT)
    )
    ran.refuse(2, "site.toml:4:3: operation[1].expct: unknown key", "expect")


def test_scenario_refused_by_the_engine_is_reported_in_one_line(
    tmp_path: Path, site: OpenSite
) -> None:
    file = tmp_path / "site.toml"
    file.write_text('[[operation]]\nget = "no slash"\nexpect.status = 200\n')
    ran = in_process(
        *("ps", "run", "--target", str(site.address), "--scenario", str(file), *SIZE, *SHORT)
    )
    ran.refuse(2, "site.toml:2:8: operation[1].get: does not begin with '/'")


def test_database_of_another_size_is_refused(mine: Path) -> None:
    ran = in_process("ps", "run", "--database", str(mine), "--entries", "301")
    ran.refuse(2, "holds 300 people, not 301")


def test_database_of_another_schema_version_is_refused(mine: Path) -> None:
    with sqlite3.connect(mine) as db:
        db.execute("PRAGMA user_version = 7")
        db.execute("UPDATE meta SET value = '7' WHERE key = 'schema_version'")
    db.close()
    in_process("ps", "run", "--database", str(mine), *SIZE).refuse(2, "schema version 7")


def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    ran = in_process("ps", "run", "--database", str(file), *SIZE)
    ran.refuse(2, "no user-property database")


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
