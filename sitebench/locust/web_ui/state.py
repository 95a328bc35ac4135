"""The state that pages show: of the running test, the test in preparation, or the last test."""

from __future__ import annotations

import time

import msgspec

from sitebench.errors import SitebenchError
from sitebench.locust.bridge import Bridge
from sitebench.locust.preparing import Preparing
from sitebench.locust.web_ui.live import LiveView
from sitebench.locust.web_ui.session import Session, SessionTest
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.windows import Phase

_JUDGED_S = 4.0
"""Seconds for which a verdict on a running test is reused, because each verdict reads all
measurements. A shorter measured window has no verdict.
"""

_WORDS = {
    Phase.RAMP: "users are starting",
    Phase.WARMUP: "warming up",
    Phase.MEASURE: "measuring",
    Phase.AFTER: "ending",
}


class State(msgspec.Struct, frozen=True):
    test: SessionTest | None
    preparing: Preparing | None
    error: SitebenchError | None
    result: PointResult | None
    stopping: bool = False
    """Whether the test was stopped, and its last counts are awaited."""

    @property
    def live(self) -> LiveView | None:
        return None if self.test is None or self.preparing else self.test.live

    @property
    def final(self) -> bool:
        return self.test is not None and self.test.has_ended

    @property
    def title(self) -> str:
        if self.preparing is not None:
            return self.preparing.title
        if self.test is None:
            return "nothing measured yet" if self.error is None else "the test could not begin"
        return title(self.test.spec)

    @property
    def word(self) -> str:
        if self.preparing is not None:
            return "preparing the target"
        if self.error is not None:
            return "failed"
        if self.test is None:
            return "fill in the form and start"
        windows = self.test.live.windows
        if self.stopping and not self.final:
            return "stopping"
        return "done" if self.final or windows is None else _WORDS[windows.phase]


def title(spec: PointSpec) -> str:
    people = " people" if spec.entries else ""
    return f"{spec.what}{people}, {spec.target}, {spec.load}"


class WebUiState:
    """The state of one web UI; a verdict on a running test is stored for `_JUDGED_S`."""

    def __init__(self, bridge: Bridge, session: Session) -> None:
        self.session = session
        self._bridge = bridge
        self._judged: tuple[float, SessionTest, PointResult | None] | None = None

    def now(self) -> State:
        test = self.session.current
        if (preparing := self._bridge.role.preparing) is not None:
            return State(test, preparing, None, None)
        if (error := self.session.unprepared) is not None:
            return State(None, None, error, None)
        if test is None:
            return State(None, None, None, None)
        stopping = self._bridge.role.ending
        return State(test, None, test.error, test.result or self._so_far(test), stopping)

    def _so_far(self, test: SessionTest) -> PointResult | None:
        windows = test.live.windows
        measured = None if windows is None else windows.measured
        if test.error is not None or measured is None or measured.seconds < _JUDGED_S:
            return None
        now, judged = time.monotonic(), self._judged
        if judged is None or judged[1] is not test or now - judged[0] > _JUDGED_S:
            self._judged = judged = (now, test, test.judge())
        return judged[2]
