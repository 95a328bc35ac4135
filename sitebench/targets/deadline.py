"""A time limit for a whole conversation; a socket's own timeout begins again with every byte."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from typing import Self

from sitebench.system.closing import Closing


def connecting_s(timeout_s: float) -> float:
    """Return the connect timeout of Python lanes, equal to the engine's (config.rs, CONNECT_MS)."""
    return min(timeout_s, 5.0)


class Deadline(Closing):
    """Shuts down the connections that it watches, if its block has not ended in time.

    The end of a connection wakes a thread or greenlet that waits for data. A greenlet that never
    waits has to check `is_over`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def close(self) -> None:
        self._end = float("inf")
        self._timer.cancel()
        with self._lock:
            for connection in self._watched:
                connection.close()
            self._watched.clear()

    @property
    def is_over(self) -> bool:
        """Whether the block exceeds its time; False after the end of the block."""
        return time.monotonic() >= self._end

    def remaining(self, at_most: float) -> float:
        # A timeout of zero would make the socket non-blocking.
        return min(at_most, max(0.001, self._end - time.monotonic()))

    def watch(self, connection: socket.socket) -> None:
        # TLS detaches the connection's descriptor, whose number can be reused.
        duplicate = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            self._watched.append(duplicate)
        if self.is_over:
            self._shut_down()

    def _shut_down(self) -> None:
        with self._lock:
            for connection in self._watched:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
