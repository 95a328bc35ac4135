"""The peak of a site with a known limit: it serves one request at a time, and slowly."""

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from sitebench.http.site import OpenSite
from sitebench.measure.peak import command
from sitebench.runs.point import PointSpec
from sitebench.runs.store import RunStore
from tests.ps_bench.conftest import SIZE
from tests.support.cli import in_process
from tests.support.faulty_site import Answer, Ask, Asked, faulty
from tests.support.waiting import eventually, left_s

TAKES_S = 0.04
LIMIT = 1 / TAKES_S
SEARCH = ("--objective", "mean<1s,failures<=0%", "--start", "15")
# Evenly spaced arrivals: by chance a second of random arrivals may stay below the site's limit.
SHORT = ("--arrivals", "even", "--warmup", "200ms", "--measure", "1s", "--json")

BRIEF = {"_HOLDS": 1, "_HOLD_WINDOWS": 1, "_PRECISION": 0.5}
HURRIED = f"""
from sitebench.cli.main import main
from sitebench.measure.peak import command
vars(command).update({BRIEF!r})
main()
"""


def done(run: Path) -> int:
    """Return the number of finished points of a run file that may not exist yet."""
    try:
        with sqlite3.connect(f"file:{run}?mode=ro", uri=True) as db:
            found = db.execute("SELECT count(*) FROM points WHERE status = 'done'").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(found[0])


def test_search_encloses_the_limit_and_resumes_after_ctrl_c(
    site: OpenSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in BRIEF.items():
        monkeypatch.setattr(command, name, value)
    turn, free_s, answers = threading.Lock(), 0.0, dict[str, Answer]()
    run, signalled = tmp_path / "run", threading.Event()

    def one_at_a_time(asked: Asked, ask: Ask) -> Answer:
        # A late wake-up of this process does not slow the site down. The site behind it is not
        # tested: each path is requested once, and its answer is repeated.
        nonlocal free_s
        if not signalled.is_set() and done(run):
            signalled.wait(left_s())  # The search does not end before Ctrl-C.
        with turn:
            if asked.path not in answers:
                answers[asked.path] = ask(asked)
            free_s = mine_s = max(free_s, time.monotonic()) + TAKES_S
        time.sleep(max(0.0, mine_s - time.monotonic()))
        return answers[asked.path]

    with faulty(site.address, one_at_a_time) as address:
        target = ("--target", str(address), "--users", "8", "--threads", "1", *SIZE)
        argv = ("ps", "peak", "image", *target, *SEARCH, *SHORT, "--out", "run")
        interrupted = subprocess.Popen(
            [sys.executable, "-c", HURRIED, *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        try:
            assert eventually(lambda: done(run) >= 1 or interrupted.poll() is not None)
            interrupted.send_signal(signal.SIGINT)
            signalled.set()
            _, said = interrupted.communicate(timeout=left_s())
        finally:
            interrupted.kill()
            interrupted.wait()
        assert interrupted.returncode == 130
        assert "resume with: sitebench ps peak image" in said
        ran = in_process(*argv, cwd=tmp_path).check(0)
    *points, answer = ran.objects
    assert points[0]["resumed"]
    assert not points[-1]["resumed"]
    peak = answer["peak"]
    # Each request takes at least this long, one at a time, on any machine.
    assert peak["rate"] <= LIMIT * 1.05
    keys = {msgspec.convert(point["spec"], PointSpec).key: point for point in points}
    assert keys[peak["best"]]["rate"] == peak["rate"]
    assert peak["interval"] is None
    if (seen := peak["seen"]) is not None:
        # As many holds as the search required, and a reported rate held each time.
        assert seen["held"] == seen["held_of"]
        assert 1 <= seen["broke"] <= seen["broke_of"]
        assert seen["broke_at"] > peak["rate"]
        assert f"broke {seen['broke']} of {seen['broke_of']} times" in peak["said"]
    # The target has ended: the same search over the same file needs no target for the same result.
    *known, same = in_process(*argv, cwd=tmp_path).check(0).objects
    assert all(point["resumed"] for point in known)
    assert same == answer
    with RunStore(tmp_path / "run", create=False) as store:
        assert store.manifest()["peaks"] == [peak]
