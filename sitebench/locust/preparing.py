"""The progress of preparing a target, and threads for work that would stop gevent's hub."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import gevent  # type: ignore[import-untyped]
import msgspec

T = TypeVar("T")
Progress = Callable[[int, int], object]


class _Cancelled(Exception):  # noqa: N818 -- no error: it ends work without a waiting greenlet
    """The waiting greenlet was killed."""


def run_in_thread(work: Callable[[], T], cancel: Callable[[], object] = lambda: None) -> T:
    """Run work that would stop the hub in a thread of its pool; raises the work's exceptions.

    If the waiting greenlet is killed, it calls `cancel`, but still waits until the work ends.
    """

    def try_work() -> tuple[T | None, Exception | None]:
        try:
            return work(), None
        except Exception as error:  # gevent would print a traceback at once.
            return None, error

    task = gevent.get_hub().threadpool.spawn(try_work)
    try:
        value, error = task.get()
    except gevent.GreenletExit:
        cancel()
        task.wait()
        raise
    if error is not None:
        raise error
    result: T = value
    return result


class Preparing(msgspec.Struct):
    title: str = "a new test"
    done: int = 0
    total: int = 0
    began: float = msgspec.field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began

    def to_json(self) -> dict[str, Any]:
        return {"done": self.done, "total": self.total, "elapsed_s": round(self.elapsed_s, 1)}

    def run_with_progress(self, work: Callable[[Progress], T]) -> T:
        """Run work in a thread; when this greenlet is killed, the work ends at its next report."""
        cancelled = False

        def progress(done: int, total: int) -> None:
            if cancelled:
                raise _Cancelled
            self.done, self.total = done, total

        def cancel() -> None:
            nonlocal cancelled
            cancelled = True

        return run_in_thread(lambda: work(progress), cancel)
