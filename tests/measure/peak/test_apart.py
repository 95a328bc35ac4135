"""A search waits between the holds of a rate, and nowhere else."""

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from sitebench.measure.objective import Objective
from sitebench.measure.options import PeakOptions
from sitebench.measure.peak import command
from sitebench.measure.peak.command import LoadLevel, PeakJob
from sitebench.measure.progress import JsonLines
from sitebench.measure.test import Test
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from tests.support.points import a_result, a_spec, a_test

P99 = Objective.parse("p99<5ms")
LIMIT = 700


class Clock:
    """Time that passes only where it is waited for, or measured."""

    def __init__(self) -> None:
        self.now, self.held = 0.0, list[tuple[float, float, float]]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def measure(self, test: Test, *_: Any) -> PointResult:
        """Take as long as the window, and keep what is due up to the limit."""
        spec = test.spec
        assert spec.rate is not None
        began, self.now = self.now, self.now + spec.measure_s
        self.held.append((spec.rate, began, self.now))
        return replace(a_result(spec, round(2 * min(spec.rate, LIMIT))), queue_start=None)


@contextlib.contextmanager
def nothing_opened(*_: Any) -> Iterator[None]:
    yield


def test_rate_is_repeated_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(command, "time", clock)
    monkeypatch.setattr(command, "measure_point", clock.measure)
    monkeypatch.setattr(command, "opened", nothing_opened)

    def test(load: LoadLevel) -> Test:
        return a_test(a_spec(rate=load.rate, users=load.users, measure_s=load.measure))

    with RunStore(tmp_path / "run") as store:
        options = PeakOptions(objective=Objective.parse("mean<5ms"), apart=60.0, start=100.0)
        stage: Any = None
        job = PeakJob(lambda seeding: stage, test, dict, 2.0, "out")
        search = command._PeakSearch(options, job, stage, store, JsonLines())
        peak, _, error = search.to_objective(options.objective or P99, 1024)
    assert error is None
    long = [(began, ended) for rate, began, ended in clock.held if rate == peak.rate]
    apart = [began - ended for (_, ended), (began, _) in pairwise(long[1:])]
    assert len(long) == 4
    assert apart == pytest.approx([60, 60])
    assert clock.now == pytest.approx(120 + sum(ended - began for _, began, ended in clock.held))
