"""`--fail-log`: the first failed operations with their rows, and without secrets."""

import json
import resource
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from sitebench.counts import fail_log
from sitebench.counts.fail_log import MOST, FailLog
from tests.scenario.people import BASE, Place
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
    *("--fail-log", "failed.jsonl", "--allow-failures", "--wrong-passwords", "any"),
)
BEFORE = json.dumps(dict.fromkeys(("time", "asked"), "of a run before"))
"""The line of an earlier log."""


@pytest.fixture
def place(place: Place) -> Place:
    place.write(MIX)
    return place


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


def test_first_failures_are_logged(place: Place) -> None:
    place.write(f"{BEFORE}\n", "failed.jsonl")
    (point,) = place.run(*LOAD).objects
    found = logged(place.folder)
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
    assert "secret-" not in (place.folder / "failed.jsonl").read_text()


def test_workers_send_their_failures_to_the_master(place: Place) -> None:
    point = place.with_workers(*LOAD).point
    # All lines may be of the worker that began first.
    found = logged(place.folder)
    phases = [each["phase"] for each in found]
    assert_as_many([each for each in found if each["phase"] == "measure"], point)
    assert max(map(phases.count, phases)) <= MOST
    assert {each["user"] for each in found} <= {1, 2}
    assert not (place.folder / "one" / "failed.jsonl").exists()


def test_log_without_failures_is_empty(place: Place) -> None:
    place.write(MIX.replace("not-", ""))
    place.run(*LOAD)
    assert logged(place.folder) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--fail-log", "no/such/folder"), "--fail-log: cannot write no/such/folder: "),
        (("--check",), "--check shows every failure itself"),
        (("--client", "ldap3"), "--client ldap3 keeps no --fail-log"),
        (
            ("--fail-log", "accounts.csv"),
            "--fail-log: accounts.csv exists, and is not a log of failures",
        ),
        (
            ("--out", "run.sitebench", "--fail-log", "./run.sitebench"),
            "--fail-log and --out name the same file",
        ),
    ],
)
def test_unusable_fail_log_is_refused(more: tuple[str, ...], message: str, place: Place) -> None:
    before = {path: path.read_bytes() for path in place.folder.iterdir()}
    place.run(*LOAD, *more).check(2, message)
    assert {path: path.read_bytes() for path in before} == before
    assert not (place.folder / "run.sitebench").exists()


def test_resumed_run_keeps_its_log(place: Place) -> None:
    more = ("--out", "run.sitebench", "--repeats", "2")
    place.run(*LOAD, *more)
    found = logged(place.folder)
    assert len({each["point"] for each in found}) == 2
    place.run(*LOAD, *more)
    assert logged(place.folder) == found


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


def test_locust_overwrites_an_earlier_log(place: Place) -> None:
    load = ("-u", "2", "--think", "1ms", "--warmup", "0s", "--wrong-passwords", "any", "FileUser")
    accounts, log = place.folder / "accounts.csv", place.folder / "failed.jsonl"
    rows = accounts.read_text()
    log.write_text(f"{BEFORE}\n")
    ran = place.locust(*load, "--fail-log", "accounts.csv")
    assert "accounts.csv exists, and is not a log of failures" in ran.err
    assert accounts.read_text() == rows
    with place.locust_started(*load, "--fail-log", "failed.jsonl") as locust:
        assert eventually(
            lambda: log.read_text().count('"measure"') == MOST or locust.poll() is not None, 60
        )
        locust.terminate()
        _, said = locust.communicate(timeout=left_s())
    found = logged(place.folder)
    assert [each["phase"] for each in found].count("measure") == MOST, said
    assert BEFORE not in map(json.dumps, found)
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


def test_full_disk_of_the_log_loses_no_point(place: Place) -> None:
    (place.folder / "failed.jsonl").symlink_to("/dev/full")
    ran = place.run(*LOAD)
    assert ran.point["failures"] > 10
    assert ran.err.count("--fail-log: cannot write failed.jsonl: No space left on device") == 1
