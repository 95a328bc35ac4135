"""How long a TCP handshake with the target takes: the way there and back, no program in between.

Both kernels answer by themselves, so a target that is slow, or has no CPU left, does not show in
it; queues on the way do. The kernel's own clock takes the time (tcp_info.tcpi_rtt), so neither
does a tester that is slow. Nothing waits: each reading begins a handshake, and the next one, a
second later, looks at what it took.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from dataclasses import dataclass

RTT_AT = 68
"""Offset of tcpi_rtt in struct tcp_info (linux/tcp.h): 8 bytes of small fields, 15 numbers."""
ESTABLISHED = 1


@dataclass(frozen=True)
class RoundTrips:
    """Round trips so far: their sum and number, so that a window's mean is a difference."""

    sum_s: float = 0.0
    n: int = 0
    least_s: float | None = None
    last_s: float | None = None

    def plus(self, took_s: float) -> RoundTrips:
        """Add one."""
        least = took_s if self.least_s is None else min(self.least_s, took_s)
        return RoundTrips(self.sum_s + took_s, self.n + 1, least, took_s)

    def mean_since(self, start: RoundTrips) -> float | None:
        """Return the mean of those after `start`, or None where there was none."""
        n = self.n - start.n
        return (self.sum_s - start.sum_s) / n if n else None


class Handshakes:
    """Keeps one handshake under way."""

    def __init__(self, host: str, port: int) -> None:
        self._under_way: socket.socket | None = None
        self.seen = RoundTrips()
        with contextlib.suppress(OSError):
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self._family, self._address = found[0][0], found[0][4]
            if sys.platform == "linux":
                self._begin()

    def read(self) -> RoundTrips:
        """Look at the handshake under way, begin the next, and return all so far."""
        if self._under_way is not None:
            took_s = _round_trip_s(self._under_way)
            self.close()
            if took_s is not None:
                self.seen = self.seen.plus(took_s)
            self._begin()
        return self.seen

    def _begin(self) -> None:
        connection = socket.socket(self._family, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect_ex(self._address)
        except OSError:
            connection.close()
            return
        self._under_way = connection

    def close(self) -> None:
        """End the handshake under way."""
        if self._under_way is not None:
            self._under_way.close()
            self._under_way = None


def _round_trip_s(connection: socket.socket) -> float | None:
    """Return what the kernel says a handshake took, or None when it did not succeed."""
    with contextlib.suppress(OSError):
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, RTT_AT + 4)
        if len(info) == RTT_AT + 4 and info[0] == ESTABLISHED:
            (microseconds,) = struct.unpack_from("=I", info, RTT_AT)
            return microseconds / 1e6 or None
    return None
