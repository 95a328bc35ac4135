"""Everything that can be asked for wrongly: one line, its remedy, and an exit code."""

import shlex
import shutil
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import sitebench as api
from sitebench.errors import BadInput
from sitebench.http import site as site_module
from sitebench.http.site import OpenSite
from sitebench.system.network import free_port
from tests.ps_bench.conftest import SHORT, SIZE
from tests.support.cli import Ran, in_process, sitebench
from tests.support.http_server import other_site


def refused(ran: Ran, code: int, *words: str) -> None:
    """Check that a command said what was wrong in one line, then what to do, and nothing else."""
    assert ran.code == code, ran.err
    lines = ran.err.strip().splitlines()
    assert len(lines) == 2, ran.err
    assert lines[0].startswith("sitebench: ")
    assert lines[1].startswith("  ")
    for word in words:
        assert word in ran.err


@pytest.fixture(scope="module")
def upd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of 300 people."""
    path = tmp_path_factory.mktemp("upd") / "people.sqlite"
    assert in_process("ps", "seed", str(path), *SIZE).code == 0
    return path


@pytest.fixture
def mine(upd: Path, tmp_path: Path) -> Path:
    """A database to spoil."""
    return Path(shutil.copy(upd, tmp_path / "mine.sqlite"))


def test_unknown_operation_is_refused() -> None:
    refused(in_process("ps", "run", "dance"), 2, "'dance'", "scenario, page")


@pytest.mark.parametrize("target", ["site", "http://", "http://a:x", "http://a/?b=1"])
def test_unknown_target_is_refused(target: str) -> None:
    refused(in_process("ps", "run", "--target", target, *SIZE), 2, "target", "http://127.0.0.1")


def test_unreachable_site_is_refused() -> None:
    ran = in_process("ps", "run", "--target", f"http://127.0.0.1:{free_port()}", *SIZE)
    refused(ran, 1, "nothing answers at http://127.0.0.1", "is running")


@pytest.fixture
def talker(request: pytest.FixtureRequest) -> Iterator[int]:
    """A server that says to everyone what it was given to say, or nothing at all."""
    server = socket.create_server(("127.0.0.1", 0))
    said: bytes = request.param
    kept: list[socket.socket] = [server]

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            kept.append(connection)
            if said:
                connection.sendall(said)

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    thread.join()
    for each in kept:
        each.close()


@pytest.mark.parametrize("talker", [b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 64, b""], indirect=True)
def test_target_with_wrong_or_no_answers_is_refused(
    talker: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_module, "_ANSWER_S", 1.0)
    ran = in_process("ps", "run", "--target", f"http://127.0.0.1:{talker}", *SIZE)
    refused(ran, 1, "does not answer as a web server does")


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
    """It is refused before any load: our pages are not there."""
    with other_site() as (url, asked):
        ran = in_process(*shlex.split(command), "--target", url, *SIZE, *SHORT[:-1])
    refused(
        ran,
        2,
        f"{url} is not sitebench's own site",
        "run that file",
        "`sitebench docs scenarios`",
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
    refused(ran, 2, "site.toml:4:3: operation[1].expct: unknown key", "expect")


def test_scenario_refused_by_the_engine_is_one_line(tmp_path: Path, site: OpenSite) -> None:
    file = tmp_path / "site.toml"
    file.write_text('[[operation]]\nget = "no slash"\nexpect.status = 200\n')
    ran = in_process(
        *("ps", "run", "--target", str(site.address), "--scenario", str(file), *SIZE, *SHORT)
    )
    refused(ran, 2, "site.toml:2:8: operation[1].get: does not begin with '/'")


def test_scenario_beside_an_operation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[[operation]]\nget = "/"\n')
    ran = in_process("ps", "run", "page", "--scenario", str(tmp_path / "site.toml"))
    refused(ran, 2, "'page'", "leave one")


def test_keepalive_option_beside_a_scenario_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('connection.main.per = "step"\n[[operation]]\nget = "/"\n')
    ran = in_process("ps", "run", str(tmp_path / "site.toml"), "--keepalive")
    refused(ran, 2, "says itself how long connections are kept", 'per = "user"')


@pytest.mark.parametrize(
    ("text", "better"),
    [
        ('[[operation]]\nsearch = "(uid=a)"\n', "sitebench directory run"),
        ('files.s.a.sizes = [9]\n[[operation]]\nfile = "a"\n', "sitebench web run"),
    ],
)
def test_scenario_of_another_suite_is_refused(tmp_path: Path, text: str, better: str) -> None:
    (tmp_path / "other.toml").write_text(text)
    ran = in_process("ps", "run", str(tmp_path / "other.toml"), "--target", "http://127.0.0.1:9")
    refused(ran, 2, "is for no personalized site", better)


def test_data_without_scenario_is_refused() -> None:
    refused(in_process("ps", "run", "page", "--data", "a=x.csv"), 2, "--data is of a scenario file")


def test_scenario_beside_a_checked_operation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[[operation]]\nget = "/"\n')
    scenario = ("--scenario", str(tmp_path / "site.toml"))
    refused(in_process("ps", "run", "page", *scenario, "--check"), 2, "'page'", "leave one")


@pytest.mark.parametrize("command", ["sweep", "vary --vary users=1,2", "peak"])
def test_check_with_load_options_is_refused(tmp_path: Path, command: str) -> None:
    (tmp_path / "site.toml").write_text('[[operation]]\nget = "/"\n')
    scenario = ("--scenario", str(tmp_path / "site.toml"))
    ran = in_process("ps", *shlex.split(command), *scenario, "--check")
    refused(ran, 2, "--check is one try, without a load", "sitebench site run FILE --check")


def test_scenario_of_the_old_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('[[operation]]\nname = "a"\n[[operation.request]]\n')
    ran = in_process("ps", "run", str(tmp_path / "site.toml"))
    refused(
        ran, 2, "site.toml:3:13: operation[1].request: is of the form before this one", "scenarios"
    )


def test_missing_database_is_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "absent.sqlite")
    refused(in_process("ps", "run", "--database", file, *SIZE), 2, "absent.sqlite", "ps seed")
    refused(in_process("ps", "serve", "--database", file, "--port", "0"), 2, "absent.sqlite")


def test_database_of_another_size_is_refused(mine: Path) -> None:
    ran = in_process("ps", "run", "--database", str(mine), "--entries", "301")
    refused(ran, 2, "holds 300 people, not 301")


def test_database_of_another_schema_version_is_refused(mine: Path) -> None:
    with sqlite3.connect(mine) as db:
        db.execute("PRAGMA user_version = 7")
        db.execute("UPDATE meta SET value = '7' WHERE key = 'schema_version'")
    db.close()
    refused(in_process("ps", "run", "--database", str(mine), *SIZE), 2, "schema version 7")


def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    ran = in_process("ps", "run", "--database", str(file), *SIZE)
    refused(ran, 2, "no user-property database")


def test_truncated_database_is_refused(mine: Path) -> None:
    mine.write_bytes(mine.read_bytes()[:20_000])
    refused(sitebench("ps", "serve", "--database", str(mine), "--port", "0"), 2, "mine.sqlite")


def test_locked_database_is_refused(mine: Path) -> None:
    db = sqlite3.connect(mine, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        # A lock of SQLite's is the process's: it would not keep this one out.
        ran = sitebench("ps", "serve", "--database", str(mine), "--port", "0")
    finally:
        db.close()
    refused(ran, 2, "locked by another process")


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    ran = in_process("ps", "seed", str(tmp_path / "absent" / "upd.sqlite"), *SIZE)
    refused(ran, 2, "cannot write")
