"""Without an address programs listen only on this machine; with an address they listen there."""

import contextlib
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest

from ils_bench.options import IlsOptions
from ils_bench.suite import SUITE
from sitebench.system.network import free_port
from tests.support.cli import SITEBENCH
from tests.support.locusts import Locust
from tests.support.waiting import left_s

PEOPLE = ("--entries", "10", "--locales", "en_US")
LOAD = ("--users", "2", "--threads", "1", "--rate", "10", "--warmup", "0s", "--measure", "1s")
MEASURED = (*PEOPLE, *LOAD)
ALONE = (*MEASURED, "--workers", "1", "--workers-wait", "3s")
"""A master whose worker never joins."""
LOCUSTFILE = ("-f", str(SUITE.locustfile_path()))
PAGE = (*LOCUSTFILE, "--web-port", "{port}")
MASTER = (*LOCUSTFILE, "--master", "--headless", "--master-bind-port", "{port}")
"""A master that waits for its worker forever."""
_LOOKS_EVERY_S = 0.25
"""Programs listen for at least a second."""
LISTENS = "0A"
"""TCP_LISTEN in the notation of /proc/net."""
LOOPBACK = {"127.0.0.1", "::1"}


def listening(pid: int) -> set[str]:
    """Return the listening addresses of a process and its descendants."""
    sockets: set[str] = set()
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            with contextlib.suppress(OSError):
                for file in Path(f"/proc/{each.pid}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        sockets.add(str(file.readlink()))
    # Read once for all processes, because psutil would use most of a core.
    return {
        ip
        for protocol in ("tcp", "tcp6", "udp", "udp6")
        for ip, inode in reachable(protocol)
        if f"socket:[{inode}]" in sockets
    }


def reachable(protocol: str) -> Iterator[tuple[str, str]]:
    """Yield the address and inode of each socket that strangers can reach.

    The kernel lists listening sockets before connections (its proc_net_tcp.rst), of which there may
    be tens of thousands.
    """
    with Path("/proc/net", protocol).open() as lines:
        next(lines)
        for line in lines:
            _, local, remote, state, *_, inode = line.split()[:10]
            if protocol.startswith("tcp") and state != LISTENS:
                return
            if remote.endswith(":0000"):
                words = bytes.fromhex(local.partition(":")[0])
                # Each group of 32 bits is a number in this machine's byte order.
                numbers = struct.unpack(f"={len(words) // 4}I", words)
                yield str(ip_address(struct.pack(f">{len(numbers)}I", *numbers))), inode


@contextlib.contextmanager
def started(folder: Path, *argv: str) -> Iterator[subprocess.Popen[bytes] | Locust]:
    # Separate state, so that concurrent tests do not see it.
    env = {"XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    if argv[:2] == LOCUSTFILE:
        with Locust(*argv, cwd=folder, env=env, together=True) as locust:
            yield locust
            locust.terminate()
            (folder / "said").write_text(locust.communicate(left_s())[0])
        return
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(
            [*SITEBENCH, *argv],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=folder,
            env={**os.environ, **env},
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


def heard_at(folder: Path, *argv: str, until: str | None = None) -> set[str]:
    """Return the listening addresses of a command until its end, or shortly after its begin.

    Or until it listens at `until`, because a reading takes seconds on a busy machine.
    """
    give_up, seen = time.monotonic() + left_s(), set[str]()
    serves = until is None and not {"serve", "ui", "-f"}.isdisjoint(argv)
    with started(folder, *(each.format(port=free_port()) for each in argv)) as process:
        while until not in seen and process.poll() is None and time.monotonic() < give_up:
            if seen and serves:
                # The wait is a little longer, for a second address.
                give_up = min(give_up, time.monotonic() + 1.0)
                serves = False
            seen |= listening(process.pid)
            time.sleep(_LOOKS_EVERY_S)
    assert seen, (folder / "said").read_text()
    return seen


def words(argv: tuple[str, ...]) -> str:
    """Return a command as the name of its test, without paths of this machine."""
    return " ".join(word for word in argv if "/" not in word)


@pytest.mark.parametrize(
    "argv",
    [
        ("ils", "serve", "--port", "0", *PEOPLE),
        ("ps", "serve", "--port", "0", *PEOPLE),
        ("ils", "ui", "--no-browser", "--web-port", "{port}"),
        ("ils", "run", "lookup", *MEASURED),
        ("ils", "run", "lookup", "--target", "openldap", *MEASURED),
        ("ils", "run", "lookup", *ALONE, "--bind", "127.0.0.1:{port}"),
        ("ps", "run", "page", *MEASURED),
        PAGE,
        MASTER,
    ],
    ids=words,
)
def test_servers_listen_only_on_loopback_by_default(argv: tuple[str, ...], tmp_path: Path) -> None:
    assert heard_at(tmp_path, *argv) <= LOOPBACK


def test_master_listens_only_on_loopback_by_default() -> None:
    assert IlsOptions().bind.host == "127.0.0.1"


@pytest.fixture(scope="module")
def other() -> str:
    """An address of this machine that other machines may reach."""
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
        (*PAGE, "--web-host"),
        (*MASTER, "--master-bind-host"),
    ],
    ids=words,
)
def test_servers_listen_on_the_chosen_address(
    argv: tuple[str, ...], other: str, tmp_path: Path
) -> None:
    address = f"{other}:{{port}}" if argv[-1] == "--bind" else other
    assert other in heard_at(tmp_path, *argv, address, until=other)
