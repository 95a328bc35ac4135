"""A target is being made ready: how far that is, and how long work runs beside the hub."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gevent  # type: ignore[import-untyped]

T = TypeVar("T")
Progress = Callable[[int, int], object]
"""Called with how many people are there, and how many are wanted."""


class Abandoned(Exception):  # noqa: N818 -- nobody sees it: it ends work that nobody waits for
    """Whoever waited for the work has been told to stop."""


def apart(work: Callable[[], T], abandon: Callable[[], object] = lambda: None) -> T:
    """Have a thread of the hub's pool do what would stop the hub; what it raises is raised here.

    Whoever is killed while waiting calls `abandon`, and waits for the end all the same.
    """
    task = gevent.get_hub().threadpool.spawn(_caught, work)
    try:
        found, error = task.get()
    except gevent.GreenletExit:
        abandon()
        task.wait()
        raise
    if error is not None:
        raise error
    result: T = found
    return result


def _caught(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Return what work returns, or raises: gevent would print a traceback of that at once."""
    try:
        return work(), None
    except Exception as error:
        return None, error


@dataclass
class Preparing:
    """How far a target is, for whoever watches."""

    title: str = "a new test"
    done: int = 0
    total: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.began

    def tell(self, done: int, total: int) -> None:
        """Note how many people are there."""
        self.done, self.total = done, total

    def to_json(self) -> dict[str, Any]:
        """Return what a page shows."""
        return {"done": self.done, "total": self.total, "elapsed_s": round(self.elapsed_s, 1)}

    def beside(self, work: Callable[[Progress], T]) -> T:
        """Do work apart, as far as it comes until whoever waits for it is killed."""
        abandoned = False

        def progress(done: int, total: int) -> None:
            if abandoned:
                raise Abandoned
            self.tell(done, total)

        def abandon() -> None:
            nonlocal abandoned
            abandoned = True

        return apart(lambda: work(progress), abandon)
