"""Waiting for what happens on other threads and in other processes.

A bound of its own makes a test fail on a machine that is busy with something else: what a test
waits for is given as long as the test has.
"""

import time
from collections.abc import Callable

AFTERWARDS_S = 15.0
"""Of a test's time, for what it does after it has waited in vain, and for its fixtures' ends."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.01, 0.05
"""A look may start a process or read a run file: what takes seconds is looked at less often."""

_ends_at_s: float | None = None


def ends_within(seconds: float) -> None:
    """Note how long the test that begins now may take; `tests/conftest.py` knows."""
    global _ends_at_s
    _ends_at_s = time.monotonic() + seconds


def left_s() -> float:
    """Return how long the present test may wait; outside one, as good as for ever."""
    if _ends_at_s is None:
        return 3_600.0
    return max(1.0, _ends_at_s - AFTERWARDS_S - time.monotonic())


def ends_s() -> float:
    """Return how long what a test started may take to end, though the test has waited in vain."""
    if _ends_at_s is None:
        return 3_600.0
    return max(1.0, _ends_at_s - 1.0 - time.monotonic())


def eventually(happened: Callable[[], bool], within_s: float | None = None) -> bool:
    """Return whether `happened()` becomes true, as long as the test has time.

    `within_s` is for what must not happen within it.
    """
    deadline = time.monotonic() + (left_s() if within_s is None else within_s)
    pause_s = FIRST_PAUSE_S
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, LAST_PAUSE_S)
    return True
