"""A remote host on this machine: a network namespace, and a virtual cable to it."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from sitebench.errors import NotPossible
from sitebench.system.programs import find_program

_BUCKET = ("burst", "32kb", "latency", "50ms")
"""The token bucket's size, and the time after which queued packets are dropped."""
_numbers = itertools.count()


class RemoteHost(msgspec.Struct, frozen=True):
    """Addresses of the host and of this machine, and the prefix of commands on the host."""

    address: str
    own_address: str
    before: tuple[str, ...]


@contextmanager
def remote_host(bits_per_s: int | None = None) -> Iterator[RemoteHost]:
    """Make a host and a cable with this rate in each direction; raise NotPossible if that fails."""
    ip = find_program("ip", "install iproute2")
    pid, n = os.getpid(), next(_numbers)
    name, device = f"sitebench-{pid}-{n}", f"sb{pid}-{n}"

    with ExitStack() as stack:
        _run(ip, "netns", "add", name)
        stack.callback(_run, ip, "netns", "del", name)
        inner = ("type", "veth", "peer", "name", "eth0", "netns", name)
        _run(ip, "link", "add", device, *inner)
        own_address, address = _addresses(socket.if_nametoindex(device))
        _run(ip, "addr", "add", f"{own_address}/30", "dev", device)
        _run(ip, "link", "set", device, "up")
        _run(ip, "-n", name, "addr", "add", f"{address}/30", "dev", "eth0")
        _run(ip, "-n", name, "link", "set", "eth0", "up")
        _run(ip, "-n", name, "link", "set", "lo", "up")
        if bits_per_s is not None:
            tc, rate = find_program("tc", "install iproute2"), f"{bits_per_s}bit"
            for side in (
                ("qdisc", "add", "dev", device),
                ("-n", name, "qdisc", "add", "dev", "eth0"),
            ):
                _run(tc, *side, "root", "tbf", "rate", rate, *_BUCKET)
        yield RemoteHost(address, own_address, (ip, "netns", "exec", name))


def _addresses(interface: int) -> tuple[str, str]:
    """Return the addresses of the cable's ends; the interface's number makes them unique."""
    network = 4 * (interface % (1 << 14))
    own_address, other_address = (
        f"10.95.{number >> 8}.{number & 255}" for number in (network + 1, network + 2)
    )
    return own_address, other_address


def _run(*argv: str) -> None:
    process = subprocess.run(argv, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        message = f"no network namespace can be made here: {process.stderr.strip()}"
        raise NotPossible(message, "run it as root, on a Linux kernel with network namespaces")
