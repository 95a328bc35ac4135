"""Waiting for what happens on other threads."""

import time
from collections.abc import Callable


def eventually(happened: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Return whether `happened()` becomes true in time."""
    deadline = time.monotonic() + within_s
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
