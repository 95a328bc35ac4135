"""Programs behind a target are recognised by the target's connections to them; others are not."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sitebench.monitor.behind import Behind
from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.process import ProcessReader
from tests.support.programs import printing
from tests.support.waiting import eventually

SERVER = """
import socket, sys, time
at = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0)) if at == "tcp" else socket.socket(socket.AF_UNIX)
if at != "tcp":
    listener.bind(at)
    listener.listen()
print(listener.getsockname()[1] if at == "tcp" else at, flush=True)
kept = [listener.accept()]
while True:
    sum(range(10_000))
"""

PROXY = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
at = sys.argv[1]
called = socket.socket(socket.AF_INET if at.isdigit() else socket.AF_UNIX)
called.connect(("127.0.0.1", int(at)) if at.isdigit() else at)
print(listener.getsockname()[1], flush=True)
time.sleep(60)
"""


@contextmanager
def running(program: str, *argv: str) -> Iterator[tuple[int, str]]:
    """Run a program; return its process and its first line."""
    process, line = printing(program, *argv)
    try:
        yield process.pid, line
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_program_called_by_the_target_is_behind_the_target(kind: str, tmp_path: Path) -> None:
    at = "tcp" if kind == "tcp" else str(tmp_path / "socket")
    with running(SERVER, at) as (server, address), running(PROXY, address) as (proxy, _):
        (found,) = Behind(ProcessReader(proxy, family=True)).look()
        name = Path(f"/proc/{server}/comm").read_text().strip()
        assert (found.pid, found.name) == (server, name)
        # In the opposite direction there is none: the proxy opens the connections.
        assert Behind(ProcessReader(server, family=True)).look() == ()


def test_cpu_of_programs_behind_the_target_is_separate_from_the_targets_cpu() -> None:
    with running(SERVER, "tcp") as (server, address), running(PROXY, address) as (proxy, _):
        monitor = Monitor(proxy)
        assert eventually(lambda: bool(monitor.sample().behind))
        start = monitor.sample()
        # One window: half a second of CPU, however long that takes here.
        reader = ProcessReader(server, family=True)
        assert (began := reader.read())
        assert eventually(lambda: (reader.read() or began).cpu_s > began.cpu_s + 0.5)
        os.kill(server, signal.SIGSTOP)
        use = use_between(start, monitor.sample(), 1.0)
    (behind,) = use.behind
    assert behind.cpu_s == pytest.approx(0.5, abs=0.3)
    assert use.target is not None
    assert use.target.cpu_s < 0.1
