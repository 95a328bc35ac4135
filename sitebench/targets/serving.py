"""What `serve` of both halves shares: what is asked of it, and when it ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sitebench.errors import UnknownValue
from sitebench.system.stop import Stop


def whole_limits(text: str) -> dict[str, int]:
    """Read `name=value,name=value`; which names there are, the engine knows."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if not value.strip().isdecimal():
            raise UnknownValue(
                f"{part!r} sets no limit", "write name=number, several with commas between"
            )
        found[name.strip()] = int(value)
    return found


@contextmanager
def until_stopped() -> Iterator[Stop]:
    """Yield what Ctrl-C and SIGTERM set."""
    with closing(Stop()) as stopped, stopped.on(signal.SIGINT, signal.SIGTERM):
        yield stopped
