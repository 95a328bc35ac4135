"""Walks a test through its phases: ramp, warm-up, measured window, after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gevent  # type: ignore[import-untyped]

from sitebench.locust.lanes import Load
from sitebench.locust.recorder import Recording
from sitebench.runs.windows import Phase


class PhaseTimer:
    """The timer of one test; without a measured length the test lasts until it is stopped."""

    def __init__(
        self,
        load: Load,
        recording: Recording,
        prepared: Mapping[str, Any],
        spawn: Callable[[Callable[[], None]], gevent.Greenlet],
        end_test: Callable[[], None],
    ) -> None:
        self.ending = False
        """Set when the test is being stopped: no phase begins any more."""
        self.concluded = False
        """Whether the measured window ended by itself."""
        self._load = load
        self._recording = recording
        self._warmup_s: float = prepared["warmup_s"]
        self._measure_s: float | None = prepared["measure_s"]
        self._spawn = spawn
        self._end_test = end_test
        self._greenlet: gevent.Greenlet | None = None

    @property
    def measuring(self) -> bool:
        """Whether the measured window is open."""
        return self._recording.windows.phase is Phase.MEASURE

    def users_spawned(self) -> None:
        """Start; when the number of users is changed, measure anew what they do from now on."""
        if self.ending:
            return  # The last of them came as the test was stopped.
        if self._greenlet is None:
            self._greenlet = self._spawn(self._walk)
        elif self.measuring and self._recording.until_stopped:
            self._greenlet.kill(block=False)
            self._greenlet = self._spawn(self._measure_anew)

    def stop(self) -> None:
        """Begin no phase any more."""
        if self._greenlet is not None and self._greenlet is not gevent.getcurrent():
            self._greenlet.kill(block=False)

    def _walk(self) -> None:
        self._load.await_users()
        if self._warmup_s > 0:
            self._enter(Phase.WARMUP)
            gevent.sleep(self._warmup_s)
        self._enter(Phase.MEASURE)
        if self._measure_s is None:
            return
        gevent.sleep(self._measure_s)
        self._enter(Phase.AFTER)
        self._load.conclude()
        self.concluded = True
        self._recording.finished(self._recording.windows)
        gevent.spawn(self._end_test)

    def _measure_anew(self) -> None:
        self._load.await_users()
        self._enter(Phase.MEASURE)

    def _enter(self, phase: Phase) -> None:
        # A kill does not reach a timer that is due in the same turn of the event loop.
        if self.ending:
            raise gevent.GreenletExit
        self._load.cross(phase)
