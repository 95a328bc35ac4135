"""Waiting for events in other threads and in other processes.

A fixed time limit makes a test fail on a busy machine, so a wait has all of the test's time.
"""

import time
from collections.abc import Callable

AFTERWARDS_S = 15.0
"""Reserved time of a test for its actions after a failed wait, and for its fixtures' ends."""
FIRST_PAUSE_S, LAST_PAUSE_S = 0.01, 0.05
"""A check may start a process or read a run file: slow conditions are checked less often."""

_ends_at_s: float | None = None


def ends_within(seconds: float) -> None:
    """Record the time limit of the present test; `tests/conftest.py` calls this."""
    global _ends_at_s
    _ends_at_s = time.monotonic() + seconds


def left_s() -> float:
    """Return the remaining time of the present test; outside a test, practically no limit."""
    if _ends_at_s is None:
        return 3_600.0
    return max(1.0, _ends_at_s - AFTERWARDS_S - time.monotonic())


def ends_s() -> float:
    """Return the time for a test's processes to end after a failed wait."""
    if _ends_at_s is None:
        return 3_600.0
    return max(1.0, _ends_at_s - 1.0 - time.monotonic())


def eventually(happened: Callable[[], bool], within_s: float | None = None) -> bool:
    """Return whether `happened()` becomes true within the test's time.

    `within_s` limits the wait for events that must not happen.
    """
    deadline = time.monotonic() + (left_s() if within_s is None else within_s)
    pause_s = FIRST_PAUSE_S
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause_s)
        pause_s = min(1.2 * pause_s, LAST_PAUSE_S)
    return True
