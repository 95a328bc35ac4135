"""What a signal sets and the main thread waits for."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], None]


class Stop:
    """An event that signals may set.

    `threading.Event` is none. A signal that comes while the main thread is about to wait runs its
    handler there, and `set` waits for ever for the lock that the interrupted `wait` holds; one that
    comes just before the thread sleeps has no handler run until something else wakes it. A byte in
    a pipe is there whenever it came.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def set(self) -> None:
        """Say that it is time to stop."""
        # A pipe that is full has been told already.
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"\0")

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether it is time to stop, after `timeout` seconds at the latest."""
        # The byte stays, for whoever asks next.
        there = select.poll()
        there.register(self._read, select.POLLIN)
        return bool(there.poll(None if timeout is None else timeout * 1e3))

    @contextmanager
    def on(self, *signals: int, handler: Handler = lambda _signal, _frame: None) -> Iterator[None]:
        """Let signals set it, in the main thread; `handler` hears them too, when Python runs."""
        previous = {each: signal.signal(each, handler) for each in signals}
        woke = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(woke)
            for each, before in previous.items():
                signal.signal(each, before)

    def close(self) -> None:
        """Let go of the pipe; nobody may set it any more."""
        os.close(self._read)
        os.close(self._write)
