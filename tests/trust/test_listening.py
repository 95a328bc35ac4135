"""Who does not say where to listen is heard on this machine only."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ils_bench.options import RunOptions
from sitebench.ports import free_port
from tests.support.cli import SITEBENCH

PEOPLE = ("--locales", "en_US")
MEASURED = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "2s")
DEADLINE_S = 60.0
LOOPBACK = {"127.0.0.1", "::1"}


def listening(pid: int) -> set[str]:
    """Return the addresses that a process and its children listen at."""
    found: set[str] = set()
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                connections = each.net_connections("inet")
                found |= {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    return found


@contextlib.contextmanager
def started(folder: Path, *argv: str) -> Iterator[subprocess.Popen[bytes]]:
    # What it keeps while it runs is no business of the tests beside it.
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    with subprocess.Popen(
        [*SITEBENCH, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=env,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def heard_at(folder: Path, *argv: str) -> set[str]:
    """Return where a command listens, until it ends or a little longer than it begins to."""
    deadline = time.monotonic() + DEADLINE_S
    seen: set[str] = set()
    with started(folder, *argv) as process:
        while process.poll() is None and time.monotonic() < deadline:
            before, seen = seen, seen | listening(process.pid)
            if before:
                # A little longer, for whoever comes second.
                deadline = min(deadline, time.monotonic() + 2.0)
            time.sleep(0.1)
    assert seen, "nobody listened at all"
    return seen


@pytest.mark.parametrize(
    "argv",
    [
        ("ils", "serve", "--entries", "5", "--port", "0", *PEOPLE),
        ("ps", "serve", "--entries", "5", "--port", "0", *PEOPLE),
        ("ils", "run", "lookup", "--entries", "10", *MEASURED, *PEOPLE),
        ("ils", "run", "lookup", "--entries", "10", "--target", "openldap", *MEASURED, *PEOPLE),
        ("ps", "run", "page", "--entries", "10", *MEASURED, *PEOPLE),
    ],
    ids=" ".join,
)
def test_by_default_only_loopback_is_listened_at(argv: tuple[str, ...], tmp_path: Path) -> None:
    assert heard_at(tmp_path, *argv) <= LOOPBACK


@pytest.mark.parametrize("half", ["ils", "ps"])
def test_so_is_the_web_page(half: str, tmp_path: Path) -> None:
    port = str(free_port())
    assert heard_at(tmp_path, half, "ui", "--no-browser", "--web-port", port) <= LOOPBACK


def test_workers_are_awaited_on_loopback_too() -> None:
    assert RunOptions().bind.host == "127.0.0.1"
