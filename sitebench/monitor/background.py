"""Asks a source that may be slow, once a second, beside everything else.

What it says last is there at once for whoever samples: a source that does not answer costs its
figures, and nothing waits for it but the first answer, before the load begins. In a process that
gevent patched the thread is a greenlet, and its waiting is the hub's to use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from sitebench.monitor.sample import Answers

T = TypeVar("T")
PERIOD_S = 1.0


class Probe(Protocol):
    """What a target says of itself, for a half that knows how to ask it."""

    @property
    def source(self) -> str:
        """Whom it asks, as a person would name it."""

    def read(self) -> Mapping[str, float] | None:
        """Ask now: names that end in `_total` are counts that only grow, others values.

        None when the target does not tell, or not us: it is not asked again. Whatever it raises
        is a missing answer.
        """

    def close(self) -> None:
        """Hang up."""


class Background(Generic[T]):
    """One source and what it said last."""

    def __init__(
        self,
        source: str,
        ask: Callable[[], T | None],
        hang_up: Callable[[], None],
        period_s: float = PERIOD_S,
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
        """How often it was asked so far, how often in vain, and why the last time."""
        return Answers(self._source, self._asked, self._missing, self._reason)

    def wait_first(self, timeout_s: float) -> None:
        """Wait until it was asked once."""
        self._first.wait(timeout_s)

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()
        self._thread.join(2 * self._period_s)

    def _run(self) -> None:
        try:
            while self._ask_once() and not self._stop.wait(self._period_s):
                pass
        finally:
            self._hang_up()

    def _ask_once(self) -> bool:
        """Ask, and return whether to ask again."""
        self._asked += 1
        try:
            answer = self._ask()
            if answer is None:
                self.offered = False
                return False
            self.latest = answer
        except Exception as error:  # whatever another machine may do to us, the run goes on
            self._missing += 1
            self._reason = str(error) or type(error).__name__
        finally:
            self._first.set()
        return True
