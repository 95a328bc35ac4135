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
    """An event that signal handlers can set: a byte in a pipe.

    A signal handler that calls `threading.Event.set` deadlocks on the lock of an interrupted
    `wait`, and does not run if the signal arrives just before the thread sleeps.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def set(self) -> None:
        with contextlib.suppress(BlockingIOError):  # If the pipe is full, the event is set already.
            os.write(self._write, b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        # The byte is not read, so that the event stays set.
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1e3))

    @contextmanager
    def on_signals(
        self, *signals: int, handler: _Handler = lambda _signal, _frame: None
    ) -> Iterator[None]:
        previous = {number: signal.signal(number, handler) for number in signals}
        woke = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(woke)
            for number, previous_handler in previous.items():
                signal.signal(number, previous_handler)

    def close(self) -> None:
        """Close the pipe; the event must not be set afterwards."""
        os.close(self._read)
        os.close(self._write)
