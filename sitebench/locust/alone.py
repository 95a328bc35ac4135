"""A test whose whole load this process makes."""

from __future__ import annotations

from collections.abc import Callable

from sitebench.counts.source import Drained
from sitebench.locust.lanes import Lanes
from sitebench.runs.windows import Phase, Windows


class Alone:
    """The lanes of this process, and nobody else's."""

    def __init__(self, lanes: Lanes, windows: Windows, taken: Callable[[Drained], None]) -> None:
        self._lanes = lanes
        self._windows = windows
        self._taken = taken

    def drain(self) -> None:
        """Move what the recorders hold into Locust's statistics and the windows."""
        self._take(self._lanes.drain())

    def discard(self) -> None:
        """Forget for Locust's screens what the recorders hold; the run file keeps it."""
        self._take(self._lanes.drain(shown=False))

    def cross(self, phase: Phase) -> None:
        """Begin a phase."""
        drained = self._lanes.drain()
        self._windows.cross(drained, phase)
        self._taken(drained)

    def finish(self) -> None:
        """Stop the lanes and take their last batch."""
        if (drained := self._lanes.stop()) is not None:
            self._take(drained)

    def _take(self, drained: Drained) -> None:
        self._windows.absorb(drained)
        self._taken(drained)

    def await_users(self) -> None:
        """Return at once: here, users that were started have their lanes."""

    def conclude(self) -> None:
        """Do nothing: the drains say all there is."""
