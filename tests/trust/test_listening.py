"""Who does not say where to listen is heard on this machine only; who does is heard there."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ils_bench.options import IlsOptions
from ils_bench.suite import SUITE
from sitebench.system.network import free_port
from tests.support.cli import SITEBENCH
from tests.support.waiting import left_s

PEOPLE = ("--entries", "10", "--locales", "en_US")
LOAD = ("--users", "2", "--threads", "1", "--rate", "10", "--warmup", "0s", "--measure", "1s")
MEASURED = (*PEOPLE, *LOAD)
ALONE = (*MEASURED, "--workers", "1", "--workers-wait", "3s")
"""A master whose worker never comes."""
LOCUST = (sys.executable, "-m", "locust", "-f", str(SUITE.locustfile_path()))
PAGE = (*LOCUST, "--web-port", "{port}")
MASTER = (*LOCUST, "--master", "--headless", "--master-bind-port", "{port}")
"""It waits for its worker for ever."""
_LOOKS_EVERY_S = 0.25
"""What listens does so for a second at least, and each look reads all connections of a command."""
LOOPBACK = {"127.0.0.1", "::1"}


def listening(pid: int) -> set[str]:
    """Return the addresses that a process and its descendants can be reached at."""
    found: set[str] = set()
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                for c in each.net_connections("inet"):
                    datagrams = c.type == socket.SOCK_DGRAM and not c.raddr
                    if c.laddr and (c.status == psutil.CONN_LISTEN or datagrams):
                        found.add(c.laddr.ip)
    return found


@contextlib.contextmanager
def started(folder: Path, *argv: str) -> Iterator[subprocess.Popen[bytes]]:
    # What it keeps while it runs is no business of the tests beside it.
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=folder,
            env=env,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def heard_at(folder: Path, *argv: str, until: str | None = None) -> set[str]:
    """Return where a command listens: until it ends, or a little longer than it begins to.

    Or until it is heard at an address: on a busy machine a look takes seconds.
    """
    give_up, seen = time.monotonic() + left_s(), set[str]()
    serves = until is None and not {"serve", "ui", "locust"}.isdisjoint(argv)
    with started(folder, *(each.format(port=free_port()) for each in argv)) as process:
        while until not in seen and process.poll() is None and time.monotonic() < give_up:
            if seen and serves:
                # A little longer, for the second one.
                give_up = min(give_up, time.monotonic() + 1.0)
                serves = False
            seen |= listening(process.pid)
            time.sleep(_LOOKS_EVERY_S)
    assert seen, (folder / "said").read_text()
    return seen


@pytest.mark.parametrize(
    "argv",
    [
        ("ils", "serve", "--port", "0", *PEOPLE),
        ("ps", "serve", "--port", "0", *PEOPLE),
        ("ils", "run", "lookup", *MEASURED),
        ("ils", "run", "lookup", "--target", "openldap", *MEASURED),
        ("ils", "run", "lookup", *ALONE, "--bind", "127.0.0.1:{port}"),
        ("ps", "run", "page", *MEASURED),
    ],
    ids=" ".join,
)
def test_by_default_only_loopback_is_listened_at(argv: tuple[str, ...], tmp_path: Path) -> None:
    assert heard_at(tmp_path, *SITEBENCH, *argv) <= LOOPBACK


def test_so_is_the_web_page(tmp_path: Path) -> None:
    page = ("ils", "ui", "--no-browser", "--web-port", "{port}")
    assert heard_at(tmp_path, *SITEBENCH, *page) <= LOOPBACK


@pytest.mark.parametrize("argv", [PAGE, MASTER], ids=["page", "master"])
def test_so_is_a_locust_that_is_started_by_hand(argv: tuple[str, ...], tmp_path: Path) -> None:
    assert heard_at(tmp_path, *argv) <= LOOPBACK


def test_workers_are_awaited_on_loopback_too() -> None:
    assert IlsOptions().bind.host == "127.0.0.1"


@pytest.fixture(scope="module")
def other() -> str:
    """An address of this machine that others may reach it at."""
    for addresses in psutil.net_if_addrs().values():
        for each in addresses:
            if each.family == socket.AF_INET and not each.address.startswith("127."):
                return each.address
    pytest.skip("this machine has no address but loopback")


@pytest.mark.parametrize(
    "argv",
    [
        ("ils", "serve", "--port", "0", *PEOPLE, "--host"),
        ("ils", "ui", "--no-browser", "--web-port", "{port}", "--web-host"),
        ("ils", "run", "lookup", *MEASURED, "--measure", "10m", "--target-host"),
        ("ils", "run", "lookup", *ALONE, "--workers-wait", "10m", "--bind"),
    ],
    ids=" ".join,
)
def test_who_asks_for_another_address_is_heard_there(
    argv: tuple[str, ...], other: str, tmp_path: Path
) -> None:
    address = f"{other}:{{port}}" if argv[-1] == "--bind" else other
    assert other in heard_at(tmp_path, *SITEBENCH, *argv, address, until=other)


@pytest.mark.parametrize(
    "argv", [(*PAGE, "--web-host"), (*MASTER, "--master-bind-host")], ids=["page", "master"]
)
def test_so_is_a_locust_by_hand_that_is_told_another(
    argv: tuple[str, ...], other: str, tmp_path: Path
) -> None:
    assert other in heard_at(tmp_path, *argv, other, until=other)
