"""Hosts on one machine: network namespaces with separate addresses, on a bridge.

The test itself is the host `.1` of their network. Names and addresses are unique to this process,
so that several processes can run at the same time. The context manager always removes the whole
network.
"""

import contextlib
import os
import socket
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.faults.groups import configure
from tests.support.programs import required_program

_LETTERS = iter(string.ascii_lowercase)


@dataclass(frozen=True)
class Host:
    """A namespace, and its address on the bridge."""

    name: str
    address: str
    prefix: tuple[str, ...]
    """The prefix of a command that is to run there."""

    def set_link(self, state: str) -> None:
        """Plug the cable in ("up") or unplug it ("down"); no other host is notified."""
        configure("ip", "-n", self.name, "link", "set", "eth0", state)


@dataclass(frozen=True)
class Network:
    """The bridge's own address, and all other hosts on it."""

    address: str
    hosts: Sequence[Host]


@contextlib.contextmanager
def network(size: int, rate: str | None = "2mbit") -> Iterator[Network]:
    """Create a network of this many hosts.

    Each host sends at most at a rate, which is below that of the machine's cores.
    """
    # The kernel removes a namespace and its devices some time after the request.
    me = f"{os.getpid()}{next(_LETTERS)}"
    bridge = f"sbb{me}"
    with contextlib.ExitStack() as stack:
        configure("ip", "link", "add", bridge, "type", "bridge")
        stack.callback(configure, "ip", "link", "del", bridge)
        # No other interface, not even of another test, has the number.
        number = socket.if_nametoindex(bridge)
        subnet = f"10.{96 + number // 256 % 16}.{number % 256}"
        configure("ip", "addr", "add", f"{subnet}.1/24", "dev", bridge)
        configure("ip", "link", "set", bridge, "up")
        hosts = []
        for n in range(size):
            name, device = f"sitebench-worker-{me}-{n}", f"sbw{me}.{n}"
            configure("ip", "netns", "add", name)
            stack.callback(configure, "ip", "netns", "del", name)
            inner = ("type", "veth", "peer", "name", "eth0", "netns", name)
            configure("ip", "link", "add", device, "master", bridge, *inner)
            configure("ip", "link", "set", device, "up")
            address = f"{subnet}.{n + 2}"
            configure("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            for each in ("eth0", "lo"):
                configure("ip", "-n", name, "link", "set", each, "up")
            if rate is not None:
                bucket = ("tbf", "rate", rate, "burst", "16kb", "limit", "1mb")
                configure("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", *bucket)
            hosts.append(Host(name, address, (str(required_program("ip")), "netns", "exec", name)))
        yield Network(f"{subnet}.1", hosts)
