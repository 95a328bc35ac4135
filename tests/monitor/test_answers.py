"""Requests to a source: counted when they have ended."""

import threading
from collections.abc import Mapping

from sitebench.monitor import Monitor
from tests.support.waiting import eventually


class HangingSource:
    """A probe whose first request fails, and whose second is under way until it is let go."""

    source = "a target"

    def __init__(self) -> None:
        self.requests = 0
        self.release = threading.Event()

    def read(self) -> Mapping[str, float] | None:
        self.requests += 1
        if self.requests > 1:
            self.release.wait(10.0)
        raise TimeoutError("timed out")

    def close(self) -> None:
        self.release.set()


def test_request_under_way_is_neither_asked_nor_missing() -> None:
    source = HangingSource()
    monitor = Monitor(None, probe=source)
    try:
        assert eventually(lambda: source.requests == 2)
        (answers,) = monitor.sample().answers
        assert (answers.asked, answers.missing) == (1, 1)
        source.release.set()
        assert eventually(lambda: monitor.sample().answers[0].asked >= 2)
        (answers,) = monitor.sample().answers
        assert answers.asked == answers.missing
    finally:
        source.release.set()
        monitor.close()
