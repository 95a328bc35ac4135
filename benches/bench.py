"""What the benches of directory, site, TLS, limits and report have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benches.ratios import Trial
from sitebench.measure.point_process import run_point
from sitebench.measure.test import Test
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore

LANES = 64


class Bench:
    """Some trials, and what they keep open from their first use to the end."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.stack = contextlib.ExitStack()

    def trials(self) -> list[Trial]:
        """Return every trial, in the order in which a repeat runs them."""
        raise NotImplementedError


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed with everything in it."""
    with TemporaryDirectory(prefix="sitebench-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def measured(test: Test) -> PointResult:
    """Measure one point as a sweep does, with a run file that is thrown away."""
    with temporary_folder() as folder, RunStore(folder / "run") as store:
        store.plan([test.spec])
        return run_point(test, store)
