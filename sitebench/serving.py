"""What `serve` of both halves shares: where it may listen unasked, and when it ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sitebench.stop import Stop

_LOOPBACK = ("127.", "::1", "localhost")


def on_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    return host.startswith(_LOOPBACK)


@contextmanager
def until_stopped() -> Iterator[Stop]:
    """Yield what Ctrl-C and SIGTERM set."""
    with closing(Stop()) as stopped, stopped.on(signal.SIGINT, signal.SIGTERM):
        yield stopped
