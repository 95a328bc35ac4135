"""Sweeps as users run them: interrupted and resumed, and with a target that dies."""

import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from ils_bench.options import IlsOptions
from ils_bench.targets.openldap import open_openldap
from sitebench.errors import TargetDied
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.seeders.people import Spec
from tests.support.cli import SITEBENCH, in_process
from tests.support.waiting import eventually, left_s
from tests.system.test_child import gone

PORTABLE = ("--client", "ldap3", "--target", "openldap", "--locales", "en_US", "--users", "2")
THINK = ("--think", "20ms")
"""A think time, because at full speed ldap3 takes a core."""
SHORT = (*THINK, "--warmup", "100ms", "--measure", "600ms")
TWO = ("--sizes", "100", "--operations", "connect,lookup", "--json")
LONG = (*THINK, "--warmup", "100ms", "--measure", "4s", "--out", "run")


def statuses(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        rows = sqlite3.connect(path).execute("SELECT status FROM points ORDER BY id")
        return [row[0] for row in rows]
    except sqlite3.OperationalError:
        return []


def test_sweep_measures_every_operation_at_every_size(slapd: object, tmp_path: Path) -> None:
    argv = ("ils", "sweep", "--sizes", "100,200", "--out", "run", *PORTABLE, *SHORT)
    ran = in_process(*argv, "--paper-tables", cwd=tmp_path).check(0)
    for words in ("Connect Operation", "Add Operation", "Direct Lookup Operation", "Latency"):
        assert words in ran.out
    with RunStore(tmp_path / "run", create=False) as store:
        found = [(r.spec.entries, r.spec.operation, r.failures) for r in store.results()]
        assert sorted(found) == [
            (size, operation, 0)
            for size in (100, 200)
            for operation in ("add", "connect", "lookup")
        ]
        assert store.manifest()["population"]["digest"]
    again = in_process(*argv, "--json", cwd=tmp_path)
    assert [point["resumed"] for point in again.objects] == [True] * 6


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield a sweep in its second point; none of its processes may outlive it."""
    command = [*SITEBENCH, "ils", "sweep", *TWO, *PORTABLE, *LONG]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, cwd=folder) as sweep:
        assert eventually(lambda: statuses(folder / "run")[:2] == ["done", "running"])
        begun = psutil.Process(sweep.pid).children(recursive=True)
        yield sweep
        sweep.communicate(timeout=left_s())
    _, alive = psutil.wait_procs(begun, timeout=left_s())
    assert not alive


def test_interrupted_sweep_is_resumed(slapd: object, tmp_path: Path) -> None:
    with started(tmp_path) as sweep:
        sweep.send_signal(signal.SIGINT)
        _, messages = sweep.communicate(timeout=left_s())
    assert sweep.returncode == 130
    assert "resume with: sitebench ils sweep" in messages
    assert "Traceback" not in messages
    assert statuses(tmp_path / "run").count("done") == 1
    again = in_process("ils", "sweep", *TWO, *PORTABLE, *LONG, cwd=tmp_path).check(0)
    assert [point["resumed"] for point in again.objects] == [True, False]
    assert statuses(tmp_path / "run") == ["done"] * 2


def test_death_of_slapd_is_noticed_although_the_process_that_started_it_lives() -> None:
    with open_openldap(IlsOptions(), Spec(10, locales=("en_US",))) as target:
        assert target.pid is not None
        os.kill(target.pid, signal.SIGKILL)
        assert gone(target.pid)
        with pytest.raises(TargetDied, match=r"^openldap at ldap://.* ended during the measure"):
            target.check()


def test_killed_sweep_leaves_no_process(slapd: object, tmp_path: Path) -> None:
    with started(tmp_path) as sweep:
        sweep.kill()


def test_sweep_over_hashes_has_points_for_each_hash(tmp_path: Path) -> None:
    """In the run file, on the terminal, in the papers' tables, the export and the report."""
    asked = ("--profile", "person", "--hash", "ssha,argon2:64k:1,argon2:64k:1")
    load = ("--entries", "20,30", "--locales", "en_US", "--users", "2", "--operations", "lookup")
    # With a fixed number of threads no point has a second try with one more.
    brief = ("--threads", "1", "--warmup", "0s", "--measure", "300ms", "--out", tmp_path / "run")
    ran = in_process("ils", "sweep", *asked, *load, *brief, "--paper-tables").check(0)
    with RunFile(tmp_path / "run") as file:
        specs = [each.spec for each in file.points()]
    assert [(each.entries, each.settings["hash"]) for each in specs] == [
        (20, "ssha"),
        (20, "argon2:64k:1"),
        (30, "ssha"),
        (30, "argon2:64k:1"),
    ]
    assert {each.settings.get("hash_pool") for each in specs} == {None, "1k"}
    assert "lookup at 20, argon2:64k:1" in ran.err
    (head,) = [line for line in ran.out.splitlines() if line.startswith("Operation  Size  Hash")]
    for cell in ("20 users, ssha", "30 users, argon2:64k:1", "lookup 30, argon2:64k:1"):
        assert cell in ran.out, (cell, head)
    exported = in_process("export", str(tmp_path / "run")).check(0)
    assert exported.out.count("argon2:64k:1") == 2
    in_process("report", str(tmp_path / "run"), "--out", str(tmp_path / "r.html")).check(0)
    assert "hash=argon2:64k:1" in (tmp_path / "r.html").read_text()


def test_unknown_hashes_are_refused_before_measuring() -> None:
    for text, said in (("ssha,md5", '--hash: there is no hash "md5"'), (",", "names no hash")):
        in_process("ils", "sweep", "--profile", "person", "--hash", text).check(2, said)
