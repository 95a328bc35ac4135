"""A soak of a few seconds: every operation is accounted for, however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from benches.soak.account import STAYED
from benches.soak.mix import LIFE_S, USERS
from benches.soak.reading import COUNTERS, ENTRIES, Soaked, read
from sitebench.errors import SitebenchError
from sitebench.runs.runfile import RunFile
from tests.support.cli import python_module
from tests.support.waiting import eventually

SMALL = ("--entries", "1k", "--users", "16", "--think", "20ms")
"""A small load, because the accounts do not depend on its size; at full rate it takes two cores."""


def soaked(path: Path) -> Soaked:
    """Return the results of a run file, after all checks that do not need a quiet machine."""
    with RunFile(path) as file:
        (point,) = file.points()
        found = read(file, point.id)
        looks = [row for row in file.samples(point.id) if (row.who, row.what) == ENTRIES]
    assert found is not None
    assert looks
    assert [line for line in found.account if not line.holds] == []
    lanes = {line.what: line.lanes for line in found.account}
    assert all(lanes[what] > 0 for what in lanes if what != STAYED), lanes
    assert {each.program for each in found.counted if each.count} == {
        s.name for s, _ in USERS.values()
    }
    assert found.failures == 0
    return found


def test_lanes_and_directory_count_the_same_operations(tmp_path: Path) -> None:
    run = tmp_path / "soak.sitebench"
    ran = python_module("benches.soak", *SMALL, "--measure", f"{LIFE_S + 1}s", "--out", str(run))
    found = soaked(run)
    with RunFile(run) as file:
        counters = file.manifest()[COUNTERS]
    assert counters["after"]["expired"] > counters["before"]["expired"]
    assert (ran.code == 0) == all(figure.holds for figure in found.figures), ran.err
    for what in ("CPU per operation, directory", "memory, tester", STAYED):
        assert what in ran.out
    assert "WRONG" in ran.out or ran.code == 0


def test_interrupted_soak_accounts_for_its_completed_operations(tmp_path: Path) -> None:
    run, scratch = tmp_path / "soak.sitebench", tmp_path / "scratch"
    scratch.mkdir()
    argv = [sys.executable, "-m", "benches.soak", *SMALL, "--measure", "16s", "--out", str(run)]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
        text=True,
    ) as process:
        assert eventually(lambda: _measuring(run), within_s=100), "it never measured"
        begun = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert STAYED in out
    soaked(run)
    assert not psutil.wait_procs(begun, timeout=30)[1]
    assert not list(scratch.iterdir())


def _measuring(run: Path) -> bool:
    try:
        with RunFile(run) as file:
            (point,) = file.points()
            return read(file, point.id) is not None
    except (SitebenchError, ValueError):
        return False


def test_existing_run_file_is_refused_and_unchanged(tmp_path: Path) -> None:
    run = tmp_path / "kept.sitebench"
    run.write_text("kept")
    python_module("benches.soak", *SMALL, "--out", str(run)).check(2, "exists already")
    assert run.read_text() == "kept"
