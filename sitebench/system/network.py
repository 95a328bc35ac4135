"""This machine's network: its loopback and its ports."""

from __future__ import annotations

import contextlib
import ipaddress
import random
import re
import socket
from pathlib import Path

from sitebench.system.machine import this_machine

_LOWEST_PORT = 10_000  # Well-known services have lower ports.
HOST_AND_PORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*:\d{1,5}")
"""An address without its scheme."""


def on_loopback(host: str) -> bool:
    """Return whether a host resolves to loopback addresses only."""
    try:
        addresses = socket.getaddrinfo(host, None)
    except OSError:
        return False
    return all(
        ipaddress.ip_address(str(address[4][0]).partition("%")[0]).is_loopback
        for address in addresses
    )


def this_loopback() -> str:
    """Return an identifier of this network namespace, which has its own 127.0.0.1."""
    return f"{this_machine()}/{Path('/proc/self/ns/net').readlink()}"


def free_port() -> int:
    """Return a port on which no program listens, if possible below the ephemeral range.

    Under load, outgoing connections often take an ephemeral port before the server binds it.
    """
    first, _ = _ephemeral_range() or (_LOWEST_PORT, 0)
    below = range(_LOWEST_PORT, first)
    # The default generator gives processes with the same seed the same ports.
    for port in (*random.SystemRandom().sample(below, min(100, len(below))), 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise OSError("no port is free on 127.0.0.1")


def local_ports() -> int | None:
    """Return the number of ephemeral ports of an address; None if unknown."""
    port_range = _ephemeral_range()
    return port_range and port_range[1] - port_range[0] + 1


def _ephemeral_range() -> tuple[int, int] | None:
    with contextlib.suppress(OSError, ValueError):
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        first, last = map(int, text.split())
        return first, last
    return None


def page_url(host: str, port: int, path: str = "/", *, scheme: str = "http") -> str:
    """Return the URL, for a browser on this machine, of a server that listens at `host`."""
    shown_host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{scheme}://{f'[{shown_host}]' if ':' in shown_host else shown_host}:{port}{path}"
