"""An interrupted test run leaves no process and no network behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.interrupted import BEGUN
from tests.support.waiting import eventually

INTERRUPTED = Path(__file__).parent / "support" / "interrupted.py"
EVERYTHING = {"slapd", "nginx", "apache2", "chromedriver", "chromium"}


def ctrl_c(run: subprocess.Popen[bytes]) -> None:
    """Interrupt the foreground of a terminal: pytest and its workers."""
    os.killpg(run.pid, signal.SIGINT)


@pytest.mark.parametrize(("how", "workers"), [(ctrl_c, "1"), (subprocess.Popen.terminate, "0")])
def test_interrupted_test_leaves_no_files_or_processes(
    how: Callable[[subprocess.Popen[bytes]], None], workers: str, tmp_path: Path
) -> None:
    file = tmp_path / "begun"
    argv = ["-n", workers, "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'tmp'}"]
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "pytest", *argv, str(INTERRUPTED)],
            env={**os.environ, BEGUN: str(file)},
            stdout=said,
            stderr=said,
            start_new_session=True,
        ) as run,
    ):
        try:
            assert eventually(lambda: file.exists() or run.poll() is not None)
            assert run.poll() is None, (tmp_path / "said").read_text()
            begun = json.loads(file.read_text())
            assert {name for _, _, name in begun} >= EVERYTHING
            assert len(networks(begun)) == 8
            how(run)
        except AssertionError:
            run.kill()
            raise
    assert eventually(lambda: not alive(begun, file) and not networks(begun)), (
        alive(begun, file),
        networks(begun),
    )


Begun = list[tuple[int, float, str]]


def alive(begun: Begun, file: Path) -> list[str]:
    """Return the running processes among those of the run, including later ones."""
    known = {(pid, began) for pid, began, _ in begun}
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each.status() != psutil.STATUS_ZOMBIE and (
                (each.pid, each.create_time()) in known or each.environ().get(BEGUN) == str(file)
            ):
                found.append(" ".join(each.cmdline()) or each.name())
    return found


def networks(begun: Begun) -> list[str]:
    """Return namespaces and devices whose name contains the ID of such a process."""
    names = [path.name for at in ("/run/netns", "/sys/class/net") for path in Path(at).glob("s*b*")]
    return [name for name in names if any(str(pid) in name for pid, _, _ in begun)]
