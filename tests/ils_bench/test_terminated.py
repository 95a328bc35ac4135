"""A measurement that another program ends, as `kill`, `timeout` and service managers do."""

import os
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.support.cli import SITEBENCH
from tests.support.waiting import eventually, left_s


@pytest.mark.timeout(300)
def test_a_terminated_measurement_ends_in_order_and_leaves_nothing(tmp_path: Path) -> None:
    argv = [*SITEBENCH, "ils", "run", "lookup", "--entries", "100"]
    argv += ["--rate", "200", "--warmup", "0s", "--measure", "60s"]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        begun: list[psutil.Process] = []

        def all_run() -> bool:
            begun[:] = psutil.Process(process.pid).children(recursive=True)
            # Target, point, and what the point was forked from.
            return len(begun) >= 3 and any(tmp_path.iterdir())

        assert eventually(all_run), "target and load never ran"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=left_s())
    assert process.returncode == 130, said
    assert b"Traceback" not in said
    _, alive = psutil.wait_procs(begun, timeout=left_s())
    assert not alive
    assert not list(tmp_path.iterdir())
