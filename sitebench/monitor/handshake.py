"""The round trip to the target, by a TCP handshake once a second.

The kernels answer a handshake themselves, so a slow target, or one without CPU left, does not
show in it; queues on the path do. The kernel also takes the time (tcp_info.tcpi_rtt), so a slow
tester does not show either. Nothing waits: each reading begins a handshake, and the next one, a
second later, reads how long it took.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from dataclasses import dataclass

_RTT_AT = 68
"""Offset of tcpi_rtt in struct tcp_info (linux/tcp.h): 8 bytes of small fields, 15 numbers."""
_ESTABLISHED = 1


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
        """Return the mean of those after `start`; None without any."""
        n = self.n - start.n
        return (self.sum_s - start.sum_s) / n if n else None


class Handshakes:
    """Keeps one handshake in progress."""

    def __init__(self, host: str, port: int) -> None:
        self._in_progress: socket.socket | None = None
        self.seen = RoundTrips()
        with contextlib.suppress(OSError):
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self._family, self._address = found[0][0], found[0][4]
            if sys.platform == "linux":
                self._begin()

    def read(self) -> RoundTrips:
        """Read the handshake in progress, begin the next, and return all so far."""
        if self._in_progress is not None:
            took_s = _round_trip_s(self._in_progress)
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
        self._in_progress = connection

    def close(self) -> None:
        if self._in_progress is not None:
            self._in_progress.close()
            self._in_progress = None


def _round_trip_s(connection: socket.socket) -> float | None:
    """Return the kernel's time of a handshake; None if it did not succeed."""
    with contextlib.suppress(OSError):
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT_AT + 4)
        if len(info) == _RTT_AT + 4 and info[0] == _ESTABLISHED:
            (microseconds,) = struct.unpack_from("=I", info, _RTT_AT)
            return microseconds / 1e6 or None
    return None
