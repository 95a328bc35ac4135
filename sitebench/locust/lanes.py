"""The lanes (one per user) of this process, and the load of a test, made here or by workers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import gevent  # type: ignore[import-untyped]
from locust.env import Environment

from sitebench.counts.fail_log import FailLog
from sitebench.counts.source import Drained, Source, ended, used_up
from sitebench.errors import OutOfDescriptors
from sitebench.locust.drains import call_listeners
from sitebench.locust.portable import PortableLane
from sitebench.locust.statistics import feed
from sitebench.runs.windows import Phase, Windows
from sitebench.system.limits import allow_descriptors

log = logging.getLogger("sitebench")

_STALL_S = 5.0
_STOP_TIMEOUT_S = 5.0
"""The longest time for connecting. A request at the window's end may have to connect first, and may
end later than its timeout by this time.
"""
_LATE_S = 0.02
"""Interval between checks whether all operations due in the window have ended."""


def no_files() -> OutOfDescriptors:
    return OutOfDescriptors(
        "this process may not open more files", "raise `ulimit -n`, or use fewer users"
    )


class Lanes:
    """The lanes of one test in one process; their drains are shown on Locust's screens."""

    def __init__(
        self,
        environment: Environment,
        source: Source,
        *,
        threads: int,
        client: str,
        python_lane: Callable[[str], PortableLane] | None = None,
    ) -> None:
        """`python_lane` makes a lane for a user of a program; if None, `source` runs the lanes."""
        self.source, self.threads, self.client = source, threads, client
        self._python_lane = python_lane
        self.stopped = False
        self._lanes = 0
        self._environment = environment
        self._offset_s = time.time() - time.monotonic()

    @property
    def portable(self) -> bool:
        return self._python_lane is not None

    def start(self, program: str) -> PortableLane | None:
        """Start one lane; returns it if it runs in Python. Raises OutOfDescriptors."""
        if self.stopped:
            return None
        # The web UI, and the end of the test, need descriptors too.
        allow_descriptors(self._lanes + 1)
        self._lanes += 1
        self.source.start_lanes(program, 1)
        return self._python_lane(program) if self._python_lane else None

    def stop_one(self, program: str) -> None:
        if not self.stopped:
            self._lanes -= 1
            self.source.stop_lanes(program, 1)

    def drain(self, *, shown: bool = True, cut: bool = False) -> Drained:
        """Take the counts since the last drain; `cut` if a phase begins with this drain."""
        drained = self.source.cut() if cut else self.source.drain()
        return self._show(drained) if shown else drained

    def stop(self) -> Drained | None:
        """Stop every lane and return their last counts; None if they were stopped before.

        Native lanes are stopped in the hub's thread pool, as a blocking join would stop the hub.
        Portable lanes are stopped in the hub, where they run: another thread might drain between
        the end of an operation and its record.
        """
        if self.stopped:
            return None
        self.stopped = True
        if self.portable:
            return self._show(self.source.stop(_STOP_TIMEOUT_S))
        join = gevent.get_hub().threadpool.apply
        return self._show(join(self.source.stop, (_STOP_TIMEOUT_S,)))

    def _show(self, drained: Drained) -> Drained:
        if not self.portable:
            feed(self._environment.stats, drained, self._offset_s)
        return drained


class LoadSource:
    """The load of a test, made by this process (`LocalLoad`) or by workers (`workers.master`)."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self.used_up = False
        self.fail_log: FailLog | None = None
        self._starved = self._stalled = False
        self._owed = 0
        self._waits = False
        self._last_progress = time.monotonic()

    def gather(self) -> None:
        """Wait until lanes can be started."""

    def drain(self, *, shown: bool = True) -> None:
        """Move the recorders' counts into the windows and, if `shown`, to Locust's screens."""
        raise NotImplementedError

    def enter_phase(self, phase: Phase) -> None:
        raise NotImplementedError

    def await_late(self, within_s: float) -> None:
        """Go on until all operations due in the ended window are answered or given up.

        Lanes go on, so that operations at the window's end have the same conditions as others. If
        arrivals still wait for a lane, the method returns after `within_s` at the latest. Otherwise
        it may take longer, by at most the length of the window, because each step of an operation
        has a timeout of its own.
        """
        measured = self._windows.measured
        began = time.monotonic()
        longest_s = within_s + (0.0 if measured is None else measured.seconds)
        while self._owed:
            waited_s = time.monotonic() - began
            if waited_s >= (within_s if self._waits else longest_s):
                return
            gevent.sleep(_LATE_S)
            self.drain()

    def await_users(self) -> None: ...
    def conclude(self) -> None:
        """Add a master's facts about its workers to the windows."""

    def finish(self) -> None:
        raise NotImplementedError

    def _take(self, drained: Drained, begins: Phase | None = None) -> None:
        """Give the windows a drain; `begins` is the phase that begins at the drain's end."""
        if self.fail_log is not None:
            self.fail_log.take(drained.log, self._windows.phase)
        if begins is None:
            self._windows.absorb(drained)
        else:
            self._windows.enter_phase(drained, begins)
        self._owed, self._waits = drained.owed, drained.backlog > 0
        self.used_up = used_up(drained)
        call_listeners(drained)
        self._warn_of_stall(drained)

    def _warn_of_stall(self, drained: Drained) -> None:
        """Warn once of lanes without descriptors, and of lanes on which no operation ends."""
        now = time.monotonic()
        if not self._starved and any("out-of-fds" in step.failures for step in ended(drained)):
            self._starved = True
            log.error("%s", no_files())
        if drained.lanes == 0 or any(step.count for step in ended(drained)):
            self._last_progress, self._stalled = now, False
        elif not self._stalled and now - self._last_progress > _STALL_S:
            self._stalled = True
            log.warning("no operation ended for %.0f s: the target has stopped answering", _STALL_S)


class LocalLoad(LoadSource):
    def __init__(self, lanes: Lanes, windows: Windows) -> None:
        super().__init__(windows)
        self._lanes = lanes

    def drain(self, *, shown: bool = True) -> None:
        self._take(self._lanes.drain(shown=shown))

    def enter_phase(self, phase: Phase) -> None:
        self._take(self._lanes.drain(cut=True), phase)

    def finish(self) -> None:
        if (drained := self._lanes.stop()) is not None:
            self._take(drained)
