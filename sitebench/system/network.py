"""This machine's network: its loopback and its ports."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from pathlib import Path

from sitebench.system.machine import this_machine


def on_loopback(host: str) -> bool:
    """Return whether a host is this machine, at an address that no other machine can reach.

    A name is what it resolves to: `127.example.com` may be anywhere.
    """
    try:
        found = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(
        ipaddress.ip_address(str(each[4][0]).partition("%")[0]).is_loopback for each in found
    )


def this_loopback() -> str:
    """Return an identifier of what 127.0.0.1 is here: each network namespace has its own."""
    return f"{this_machine()}/{Path('/proc/self/ns/net').readlink()}"


def free_port() -> int:
    """Return a port on which nothing listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def local_ports() -> int | None:
    """Return how many ports connections of one address may start from; None where unknown."""
    with contextlib.suppress(OSError, ValueError):
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        first, last = map(int, text.split())
        return last - first + 1
    return None
