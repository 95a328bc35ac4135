"""A measurement that another program ends, as `kill`, `timeout` and service managers do."""

import contextlib
import os
import pty
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
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


def test_a_closed_terminal_ends_a_run_in_order_and_its_people_are_removed(tmp_path: Path) -> None:
    terminal, inside = pty.openpty()
    with LdapDirectory(0) as directory, contextlib.ExitStack() as open_terminal:
        open_terminal.callback(os.close, terminal)
        argv = ["setsid", "--ctty", *SITEBENCH, "ils", "run", "lookup", "--entries", "300"]
        argv += ["--target", directory.url, "--base", "o=Intranet", "--i-own-this-target"]
        argv += ["--rate", "50", "--warmup", "0s", "--measure", "60s"]
        before = directory.stats()["entries"]
        with subprocess.Popen(
            argv,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
        ) as process:
            os.close(inside)
            os.set_blocking(terminal, False)

            def searched() -> bool:
                with contextlib.suppress(BlockingIOError):
                    os.read(terminal, 65_536)
                # Before it adds people, it looks for them.
                return directory.stats()["searches"] > 100

            assert eventually(searched), directory.stats()
            assert directory.stats()["entries"] > before
            open_terminal.close()
            # A shell that ends with its terminal tells its jobs, too.
            process.send_signal(signal.SIGHUP)
            process.wait(left_s())
        assert process.returncode == 130
        assert directory.stats()["entries"] == before
