"""Ports of this machine."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path


def free_port() -> int:
    """Return a port that nobody listens on just now."""
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
