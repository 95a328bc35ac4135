"""What `serve` of both halves shares: where it may listen unasked, and when it ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_LOOPBACK = ("127.", "::1", "localhost")


def on_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    return host.startswith(_LOOPBACK)


@contextmanager
def until_stopped() -> Iterator[threading.Event]:
    """Yield what Ctrl-C and SIGTERM set."""
    stopped = threading.Event()

    def on_signal(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    previous = {each: signal.signal(each, on_signal) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler)
