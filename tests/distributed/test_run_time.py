"""A run time that is over before a master has its target ready."""

import os
import subprocess
import sys
from pathlib import Path

from sitebench.system.network import free_port
from tests.distributed.masters import ROOT, worker
from tests.support.waiting import left_s

# Prepares for as long as Locust has not told its workers to end, and that long it has time.
PREPARES_TOO_LONG = """
import gevent
from ils_bench.locustfile import LookupUser
from ils_bench.suite_run import IlsRun

prepare = IlsRun.prepare

def slowly(self, environment, *others):
    prepared = prepare(self, environment, *others)
    while environment.runner.clients:
        gevent.sleep(0.001)
    return prepared

IlsRun.prepare = slowly
"""


def test_workers_that_end_meanwhile_are_not_lost(tmp_path: Path) -> None:
    """Locust tells its workers to end, and goes on itself for half a second."""
    (tmp_path / "lf.py").write_text(PREPARES_TOO_LONG)
    port = str(free_port())
    with worker(tmp_path, f"127.0.0.1:{port}", None):
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "locust", "-f", "lf.py", "--master", "--headless"),
                *("--master-bind-port", port, "--expect-workers", "1", "-t", "2s"),
                *("--entries", "10", "--locales", "en_US", "--loglevel", "WARNING"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=left_s(),
            check=False,
        )
    assert "was lost" not in ran.stderr, ran.stderr
    (line,) = [line for line in ran.stderr.splitlines() if "sitebench" in line]
    assert line.endswith("give it more time: -t counts from the start")
    assert ran.returncode == 1
