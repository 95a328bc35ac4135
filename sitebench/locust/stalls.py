"""Warnings about a test that stalls without an error: a silent target, no descriptors left."""

from __future__ import annotations

import logging
import time

from sitebench.counts.source import Drained
from sitebench.errors import OutOfDescriptors

log = logging.getLogger("sitebench")

STALL_S = 5.0


def no_files() -> OutOfDescriptors:
    """Return the error of a process whose descriptors are used up."""
    return OutOfDescriptors(
        "this process may open no more files", "raise `ulimit -n`, or use fewer users"
    )


class StallWarnings:
    """Checks every drain of one test, and warns of each thing once."""

    def __init__(self) -> None:
        self._starved = self._stalled = False
        self._last_progress = time.monotonic()

    def check(self, drained: Drained) -> None:
        """Warn when lanes run and no operation ends: Locust's own rate would only freeze.

        Lanes that get no descriptor go on failing.
        """
        now = time.monotonic()
        if not self._starved and any("out-of-fds" in step.failures for step in drained.steps):
            self._starved = True
            log.error("%s", no_files())
        if drained.lanes == 0 or any(step.count for step in drained.steps):
            self._last_progress, self._stalled = now, False
        elif not self._stalled and now - self._last_progress > STALL_S:
            self._stalled = True
            log.warning("no operation ended for %.0f s: the target has stopped answering", STALL_S)
