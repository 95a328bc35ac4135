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
        """Have a thread of the hub's pool do what would stop the hub; it ends with who waits."""
        abandoned = False

        def progress(done: int, total: int) -> None:
            if abandoned:
                raise Abandoned
            self.tell(done, total)

        task = gevent.get_hub().threadpool.spawn(work, progress)
        try:
            found: T = task.get()
            return found
        except gevent.GreenletExit:
            abandoned = True
            task.wait()
            raise
