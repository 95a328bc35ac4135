"""An end for a whole conversation, since each byte renews the timeout of a socket."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from types import TracebackType


def connecting_s(timeout_s: float) -> float:
    """Return how long lanes in Python wait for a connection, as the engine does.

    `CONNECT_MS` of `native/tester/load/src/config.rs` has the reason.
    """
    return min(timeout_s, 5.0)


class Deadline:
    """Shuts down the connections that it watches, if its block has not ended in time.

    That wakes a thread, or a greenlet, which waits for one of them. A greenlet that never waits has
    to look at `over`.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end = float("inf")
        self._timer.cancel()
        with self._lock:
            for connection in self._watched:
                connection.close()
            self._watched.clear()

    @property
    def is_over(self) -> bool:
        """Whether the block lasts too long; never after it."""
        return time.monotonic() >= self._end

    def remaining(self, at_most: float) -> float:
        """Return a timeout for the next call."""
        # Zero would mean not to wait, which has errors of its own.
        return min(at_most, max(0.001, self._end - time.monotonic()))

    def watch(self, connection: socket.socket) -> None:
        """Watch a connection, in TLS or before it."""
        # A descriptor of its own: TLS takes the connection's away, and a closed one may be reused.
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
