"""Reads a source that may be slow once a second, in a thread of its own.

Sampling takes the last answer at once: a source that does not answer loses its figures and delays
nothing, except the first answer, before the load begins. In a process that gevent has patched the
thread is a greenlet, and the hub runs while it waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from sitebench.monitor.sample import Answers

T = TypeVar("T")
_PERIOD_S = 1.0


class Probe(Protocol):
    """Counters that a target reports of itself; a suite knows how to read them."""

    @property
    def source(self) -> str:
        """Its name in messages."""

    def read(self) -> Mapping[str, float] | None:
        """Read now: names that end in `_total` are counters, others gauges.

        None if the target does not offer them, or not to this user: it is not asked again. Any
        exception counts as a missing answer.
        """

    def close(self) -> None: ...


class Background(Generic[T]):
    """One source and its last answer."""

    def __init__(
        self,
        source: str,
        ask: Callable[[], T | None],
        hang_up: Callable[[], None],
        period_s: float = _PERIOD_S,
    ) -> None:
        self.latest: T | None = None
        self.offered = True
        self._source = source
        self._ask = ask
        self._hang_up = hang_up
        self._period_s = period_s
        self._asked = self._missing = 0
        self._reason = ""
        self._stop = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)
        self._thread.start()

    @property
    def answers(self) -> Answers:
        """Requests so far, how many were not answered, and why the last one was not."""
        return Answers(self._source, self._asked, self._missing, self._reason)

    def wait_first(self, timeout_s: float) -> None:
        self._first.wait(timeout_s)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(2 * self._period_s)

    def _run(self) -> None:
        try:
            while self._ask_once() and not self._stop.wait(self._period_s):
                pass
        finally:
            self._hang_up()

    def _ask_once(self) -> bool:
        """Ask once; return whether to ask again."""
        self._asked += 1
        try:
            answer = self._ask()
            if answer is None:
                self.offered = False
                return False
            self.latest = answer
        except Exception as error:  # a fault of another machine must not end the run
            self._missing += 1
            self._reason = str(error) or type(error).__name__
        finally:
            self._first.set()
        return True
