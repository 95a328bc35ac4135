"""A test that starts processes of all kinds; `tests/test_interrupted.py` interrupts it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil

from ils_bench.seeding import slapd_folder
from sitebench.seeders.people import Spec
from tests.distributed.network import network
from tests.faults.links import directory, link
from tests.support import slapd_folder as slapd
from tests.support.browser import browsing
from tests.support.cli import SITEBENCH
from tests.support.waiting import eventually
from web_bench.targets import apache, nginx

BEGUN = "SITEBENCH_TEST_BEGUN"
"""Environment variable with the file for the IDs and start times of all processes."""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
MEASURE = ("run", "lookup", "--entries", "100", "--locales", "en_US", "--rate", "10")


def test_that_is_interrupted(chromedriver: Path, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        slapd_folder.fill(Spec(10, locales=("en_US",)), tmp_path / "slapd")
        stack.enter_context(slapd.running(tmp_path / "slapd"))
        docroot = tmp_path / "docroot"
        docroot.mkdir()
        stack.enter_context(nginx.serving(docroot))
        stack.enter_context(apache.serving(docroot))
        stack.enter_context(browsing(chromedriver, tmp_path))
        here, _ = stack.enter_context(link())
        stack.enter_context(directory(here))
        stack.enter_context(network(1))
        deaf = [sys.executable, "-c", DEAF]
        stack.enter_context(subprocess.Popen(deaf, env={}, start_new_session=True))
        stack.enter_context(subprocess.Popen(deaf, env={})).send_signal(signal.SIGSTOP)
        measure = [*SITEBENCH, "ils", *MEASURE, "--measure", "10m"]
        run = stack.enter_context(
            subprocess.Popen(measure, cwd=tmp_path, stderr=subprocess.DEVNULL)
        )
        # The directory, and the point.
        assert eventually(lambda: len(psutil.Process(run.pid).children()) == 2)
        begun = [psutil.Process(), *psutil.Process().children(recursive=True)]
        file = Path(os.environ[BEGUN])
        file.with_suffix(".part").write_text(
            json.dumps([[each.pid, each.create_time(), each.name()] for each in begun])
        )
        file.with_suffix(".part").rename(file)
        threading.Event().wait()
