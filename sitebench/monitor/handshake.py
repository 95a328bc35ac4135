"""The round trip to the target, by a TCP handshake once a second (docs/verdict.md, "Queueing").

Each reading begins a handshake and waits for its end for a millisecond, without a yield to other
greenlets. A longer handshake is read by a later reading. A handshake under way for more than a
second counts with its time so far: a lost segment is sent again after a second. A connection is
closed as soon as its handshake is read, because a server with one worker would wait for a request
on it.
"""

from __future__ import annotations

import contextlib
import socket
import statistics
import struct
import sys
import time
from collections.abc import Sequence
from typing import Any

import msgspec

_RTT_AT = 68
"""Offset of tcpi_rtt in struct tcp_info (linux/tcp.h): 8 bytes of small fields, 15 numbers."""
_ESTABLISHED, _SYN_SENT = 1, 2

_LONG_S = 1.0
_WAIT_S = 1e-3
_MOST = 64
"""The largest number of handshakes under way; so many are under way only if nothing answers."""


class RoundTrips(msgspec.Struct, frozen=True):
    """Round trips so far, and the times so far of handshakes under way for more than a second."""

    took_s: Sequence[float] = ()
    """Round trips of the whole test; the first `n` were measured until this reading."""
    n: int = 0
    under_way_s: tuple[float, ...] = ()

    @property
    def least_s(self) -> float | None:
        return min(self.took_s[: self.n], default=None)

    @property
    def last_s(self) -> float | None:
        return self.took_s[self.n - 1] if self.n else None

    def typical_since(self, start: RoundTrips) -> float | None:
        """Return the median of the round trips after `start`; None without round trips."""
        durations_s = (*self.took_s[start.n : self.n], *self.under_way_s)
        return statistics.median(durations_s) if durations_s else None


class _Handshake(msgspec.Struct):
    """A handshake under way; `lasted_s` is its time at the last reading."""

    connection: socket.socket
    began_s: float = msgspec.field(default_factory=time.monotonic)
    lasted_s: float = 0.0


class Handshakes:
    def __init__(self, host: str, port: int) -> None:
        self._under_way: list[_Handshake] = []
        self._took_s: list[float] = []
        self._address: tuple[int, Any] | None = None
        with contextlib.suppress(OSError):
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            if sys.platform == "linux":
                self._address = addresses[0][0], addresses[0][4]
        self._begin()

    def read(self) -> RoundTrips:
        """Read the handshakes under way, begin the next, and return all round trips so far."""
        self._under_way = [trip for trip in self._under_way if not self._is_over(trip)]
        long_s = tuple(trip.lasted_s for trip in self._under_way if trip.lasted_s >= _LONG_S)
        round_trips = RoundTrips(self._took_s, len(self._took_s), long_s)
        self._begin()
        return round_trips

    def _is_over(self, handshake: _Handshake) -> bool:
        """Return whether a handshake is over; record its time if it succeeded."""
        state, took_s = _progress(handshake.connection)
        if state == _SYN_SENT:
            handshake.lasted_s = time.monotonic() - handshake.began_s
            return False
        if state == _ESTABLISHED and (took_s or handshake.lasted_s):
            # After a retransmission the kernel can report the last round trip alone.
            self._took_s.append(max(took_s, handshake.lasted_s))
        handshake.connection.close()
        return True

    def _begin(self) -> None:
        if self._address is None or len(self._under_way) >= _MOST:
            return
        family, address = self._address
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect_ex(address)
        except OSError:
            connection.close()
            return
        handshake = _Handshake(connection)
        while not (is_done := self._is_over(handshake)) and handshake.lasted_s < _WAIT_S:
            pass
        if not is_done:
            self._under_way.append(handshake)

    def close(self) -> None:
        for handshake in self._under_way:
            handshake.connection.close()
        self._under_way.clear()


def _progress(connection: socket.socket) -> tuple[int, float]:
    """Return the state of a connection, and the round trip that the kernel measured."""
    with contextlib.suppress(OSError):
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT_AT + 4)
        if len(info) == _RTT_AT + 4:
            (microseconds,) = struct.unpack_from("=I", info, _RTT_AT)
            return info[0], microseconds / 1e6
    return 0, 0.0
