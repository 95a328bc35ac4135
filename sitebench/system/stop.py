"""An event that a signal sets and the main thread waits for."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_Handler = Callable[[int, FrameType | None], None]


class Stop:
    """An event that signals may set.

    `threading.Event` will not do. If a signal arrives while the main thread is about to wait, the
    handler runs there, and `set` deadlocks on the lock that the interrupted `wait` holds; if one
    arrives just before the thread sleeps, the handler does not run until something else wakes the
    thread. A byte in a pipe is seen whenever it was written.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def set(self) -> None:
        """Set the event."""
        # If the pipe is full, the event is set already.
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether the event is set, after `timeout` seconds at the latest."""
        # The byte is not read: the event stays set.
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1e3))

    @contextmanager
    def on_signals(
        self, *signals: int, handler: _Handler = lambda _signal, _frame: None
    ) -> Iterator[None]:
        """Set the event on signals, in the main thread; `handler` runs, too."""
        previous = {number: signal.signal(number, handler) for number in signals}
        woke = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(woke)
            for number, previous_handler in previous.items():
                signal.signal(number, previous_handler)

    def close(self) -> None:
        """Close the pipe; the event must not be set any more."""
        os.close(self._read)
        os.close(self._write)
