"""Hosts on one machine: network namespaces with separate addresses, on a bridge.

Each host sends through a narrow link, which limits its rate below that of the machine's cores.

The test itself is the host `.1` of their network. Names and addresses are unique to this process,
so that several processes can run at the same time. The context manager always removes the whole
network.
"""

import contextlib
import os
import socket
import string
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.faults.groups import unavailable
from tests.support.programs import required_program

_LINE = (
    "qdisc",
    "add",
    "dev",
    "eth0",
    "root",
    *["tbf", "rate", "2mbit", "burst", "16kb", "limit", "1mb"],
)
_LETTERS = iter(string.ascii_lowercase)


@dataclass(frozen=True)
class Host:
    """A namespace, and its address on the bridge."""

    name: str
    address: str
    prefix: tuple[str, ...]
    """The prefix of a command that is to run there."""


@dataclass(frozen=True)
class Network:
    """The bridge's own address, and all other hosts on it."""

    address: str
    hosts: Sequence[Host]


@contextlib.contextmanager
def network(size: int) -> Iterator[Network]:
    """Create a network of this many hosts."""
    ip, tc = (str(required_program(name)) for name in ("ip", "tc"))
    # The kernel removes a namespace and its devices some time after the request.
    me = f"{os.getpid()}{next(_LETTERS)}"
    bridge = f"sbb{me}"
    with contextlib.ExitStack() as stack:
        _do(ip, "link", "add", bridge, "type", "bridge")
        stack.callback(_do, ip, "link", "del", bridge)
        # No other interface, not even of another test, has the number.
        number = socket.if_nametoindex(bridge)
        subnet = f"10.{96 + number // 256 % 16}.{number % 256}"
        _do(ip, "addr", "add", f"{subnet}.1/24", "dev", bridge)
        _do(ip, "link", "set", bridge, "up")
        hosts = []
        for n in range(size):
            name, device = f"sitebench-worker-{me}-{n}", f"sbw{me}.{n}"
            _do(ip, "netns", "add", name)
            stack.callback(_do, ip, "netns", "del", name)
            inner = ("type", "veth", "peer", "name", "eth0", "netns", name)
            _do(ip, "link", "add", device, "master", bridge, *inner)
            _do(ip, "link", "set", device, "up")
            address = f"{subnet}.{n + 2}"
            _do(ip, "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            for each in ("eth0", "lo"):
                _do(ip, "-n", name, "link", "set", each, "up")
            _do(ip, "netns", "exec", name, tc, *_LINE)
            hosts.append(Host(name, address, (ip, "netns", "exec", name)))
        yield Network(f"{subnet}.1", hosts)


def _do(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{' '.join(argv)}: {done.stderr.strip()}")
