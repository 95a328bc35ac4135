"""`--fail-log`: the first failed operations with their rows, and without secrets."""

import contextlib
import json
import resource
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.counts import fail_log
from sitebench.counts.fail_log import MOST, FailLog
from sitebench.system.network import free_port
from tests.scenario.people import BASE, SUFFIX, write_accounts, write_ldif
from tests.scenario.test_workers import worker
from tests.support.cli import Ran, in_process
from tests.support.locusts import Locust, run_locust
from tests.support.waiting import eventually, left_s

MIX = f"""
base = "{BASE}"
data.person = {{ file = "accounts.csv", deal = "in-order" }}

[[operation]]
name = "login"
step = [
  {{ bind = "uid={{person.uid}},{{base}}", password = "not-{{person.password}}" }},
  {{ search = "(uid={{person.uid}})" }},
]

[[operation]]
search = "(uid=*)"
"""
LOAD = (
    *("--users", "2", "--threads", "2", "--think", "1ms"),
    *("--warmup", "0s", "--measure", "500ms", "--json"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_accounts(tmp_path)
    (tmp_path / "mix.toml").write_text(MIX)
    return tmp_path


@pytest.fixture
def directory(folder: Path) -> Iterator[LdapDirectory]:
    with LdapDirectory(0, ldif=write_ldif(folder), suffix=SUFFIX) as found:
        yield found


def argv(directory: LdapDirectory, *more: str) -> tuple[str, ...]:
    where = ("--target", directory.url, "--fail-log", "failed.jsonl")
    allowed = ("--allow-failures", "--wrong-passwords", "any")
    return ("ils", "run", "mix.toml", *where, *allowed, *LOAD, *more)


def run(folder: Path, directory: LdapDirectory, *more: str) -> Ran:
    return in_process(*argv(directory, *more), cwd=folder)


def logged(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "failed.jsonl").read_text().splitlines()]


def assert_as_many(measured: list[dict[str, Any]], point: dict[str, Any]) -> None:
    """Check that the log has the failures of the window, or the first of them.

    A line names the phase in which its operation failed, and the point counts the operation in the
    phase in which it began: each of two users has one under way at either end of the window.
    """
    assert 10 < len(measured) <= MOST
    if point["failures"] >= MOST + 2:
        assert len(measured) == MOST
    else:
        assert len(measured) == pytest.approx(point["failures"], abs=2)


def test_first_failures_are_logged(folder: Path, directory: LdapDirectory) -> None:
    before = dict.fromkeys(("time", "asked"), "of a run before")
    (folder / "failed.jsonl").write_text(json.dumps(before) + "\n")
    ran = run(folder, directory)
    (point,) = ran.objects
    found = logged(folder)
    # Failures while users are started take no space of the window.
    measured = [each for each in found if each["phase"] == "measure"]
    assert_as_many(measured, point)
    first = found[0]
    assert [*first][:4] == ["time", "point", "phase", "user"]
    assert [*first][4:8] == ["iteration", "operation", "step", "kind"]
    assert (first["operation"], first["step"]) == ("login", "bind")
    assert (first["kind"], first["code"]) == ("result:invalidCredentials", "invalidCredentials")
    # All lines may be of the thread that began first.
    assert {each["user"] for each in found} <= {1, 2}
    assert {each["rows"]["person"] for each in found} <= {*range(1, 101)}
    assert "secret-" not in (folder / "failed.jsonl").read_text()


def test_workers_send_their_failures_to_the_master(folder: Path, directory: LdapDirectory) -> None:
    port = free_port()
    with contextlib.ExitStack() as running:
        for name in ("one", "two"):
            (folder / name).mkdir()
            write_accounts(folder / name)
            running.enter_context(worker(folder / name, port))
        ran = run(folder, directory, "--workers", "2", "--bind", f"127.0.0.1:{port}")
    assert ran.code == 0, ran.err
    # All lines may be of the worker that began first.
    phases = [each["phase"] for each in logged(folder)]
    assert_as_many([each for each in logged(folder) if each["phase"] == "measure"], ran.objects[0])
    assert max(map(phases.count, phases)) <= MOST
    assert {each["user"] for each in logged(folder)} <= {1, 2}
    assert not (folder / "one" / "failed.jsonl").exists()


def test_log_without_failures_is_empty(folder: Path, directory: LdapDirectory) -> None:
    (folder / "mix.toml").write_text(MIX.replace("not-", ""))
    run(folder, directory)
    assert logged(folder) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--fail-log", "no/such/folder"), "--fail-log: cannot write no/such/folder: "),
        (("--check",), "--check shows every failure itself"),
        (("--client", "ldap3"), "--client ldap3 keeps no --fail-log"),
    ],
)
def test_unusable_fail_log_is_refused(
    more: tuple[str, ...], said: str, folder: Path, directory: LdapDirectory
) -> None:
    ran = run(folder, directory, *more)
    assert ran.code != 0
    assert said in ran.err


def test_resumed_run_keeps_its_log(folder: Path, directory: LdapDirectory) -> None:
    more = ("--out", "run.sitebench", "--repeats", "2")
    run(folder, directory, *more)
    found = logged(folder)
    assert len({each["point"] for each in found}) == 2
    run(folder, directory, *more)
    assert logged(folder) == found


def test_log_of_a_repeated_point_has_no_lines_of_its_first_try(tmp_path: Path) -> None:
    path = tmp_path / "log"
    fail_log.begin(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first = path.stat().st_ino
    one, other = (json.dumps({"time": "a", "point": key}) + "\n" for key in ("one", "other"))
    path.write_text(one + other + '{"time": "b", "point": "one", cut')
    fail_log.forget(str(path), "one")
    assert path.read_text() == other
    # The file is replaced, not rewritten: a kill in between would lose the other point's lines.
    assert path.stat().st_ino != first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_file_that_is_no_log_of_failures_is_not_overwritten(
    folder: Path, directory: LdapDirectory
) -> None:
    rows = (folder / "accounts.csv").read_text()
    run(folder, directory, "--fail-log", "accounts.csv").check(
        2, "--fail-log: accounts.csv exists, and is not a log of failures"
    )
    assert (folder / "accounts.csv").read_text() == rows


def test_run_file_is_refused_as_fail_log(folder: Path, directory: LdapDirectory) -> None:
    run(folder, directory, "--out", "run.sitebench", "--fail-log", "./run.sitebench").check(
        2, "--fail-log and --out name the same file"
    )
    assert not (folder / "run.sitebench").exists()


def test_locust_overwrites_an_earlier_log(folder: Path, directory: LdapDirectory) -> None:
    load = ("--headless", "-u", "2", "--think", "1ms", "--only-summary", "--warmup", "0s")
    scenario = ("--scenario", "mix.toml", "--wrong-passwords", "any", "FileUser")
    where = ("--target", directory.url, *scenario)
    file = str(Path(__file__).parents[2] / "locustfiles/ils.py")
    before = json.dumps(dict.fromkeys(("time", "asked"), "of a run before"))
    rows = (folder / "accounts.csv").read_text()
    (folder / "failed.jsonl").write_text(before + "\n")
    argv = ("-f", file, *load, *where, "--fail-log")
    ran = run_locust(*argv, "accounts.csv", cwd=folder)
    assert "accounts.csv exists, and is not a log of failures" in ran.err
    assert (folder / "accounts.csv").read_text() == rows
    log = folder / "failed.jsonl"
    with Locust(*argv, "failed.jsonl", cwd=folder) as locust:
        assert eventually(
            lambda: log.read_text().count('"measure"') == MOST or locust.poll() is not None, 60
        )
        locust.terminate()
        _, said = locust.communicate(timeout=left_s())
    found = logged(folder)
    assert [each["phase"] for each in found].count("measure") == MOST, said
    assert before not in map(json.dumps, found)
    assert {each["point"] for each in found} == {None}


LINE = {
    "time": "b",
    "user": 1,
    "iteration": 1,
    "operation": "o",
    "step": "s",
    "kind": "closed",
    "code": None,
    "diagnostic": None,
    "asked": "",
    "rest": "",
    "said": "",
    "rows": {},
    "captured": {},
}


def test_failures_logged_by_several_drains_are_merged_within_a_phase(tmp_path: Path) -> None:
    log = FailLog(str(tmp_path / "log"), "key")
    log.take([json.dumps(LINE), json.dumps(LINE | {"time": "a"})], "measure")
    log.take([json.dumps(LINE)] * MOST, "measure")
    log.take([json.dumps(LINE)], "measure")
    log.take([json.dumps(LINE)] * 3, "after")
    found = [json.loads(each) for each in (tmp_path / "log").read_text().splitlines()]
    assert [each["time"] for each in found[:3]] == ["a", "b", "b"]
    assert [each["phase"] for each in found] == ["measure"] * MOST + ["after"] * 3
    assert "rest" not in found[0]


def test_full_disk_ends_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "log"
    log = FailLog(str(file), "key")
    log.take([json.dumps(LINE)], "measure")
    before = file.read_text()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # The disk has space for only a part of the second line.
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limit[1]))
    try:
        for _ in range(3):
            log.take([json.dumps(LINE)], "measure")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert file.read_text() == before
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"--fail-log: cannot write {file}: ")


def test_full_disk_of_the_log_loses_no_point(folder: Path, directory: LdapDirectory) -> None:
    (folder / "failed.jsonl").symlink_to("/dev/full")
    ran = run(folder, directory).check(0)
    assert ran.objects[0]["failures"] > 10
    assert ran.err.count("--fail-log: cannot write failed.jsonl: No space left on device") == 1
