"""Invented points and results for stores and tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sitebench.counts.tally import Tally
from sitebench.measure.options import LoadOptions
from sitebench.measure.summarise import summarise
from sitebench.measure.test import Test
from sitebench.monitor.use import MachineUse, ProcessUse, Use
from sitebench.runs.point import PointResult, PointSpec
from tests.support.drains import Drain, Step, histogram


def a_spec(operation: str = "lookup", entries: int = 1_000, **other: Any) -> PointSpec:
    """Return a specification; `other` replaces any of its fields."""
    made = PointSpec("ils", operation, entries, "embedded", 64, None, 0.5, 2.0, settings={"a": "b"})
    return replace(made, **other)


def a_test(spec: PointSpec | None = None) -> Test:
    """Return a test of a point for code that only plans it."""
    options = LoadOptions()
    return Test(spec=spec or a_spec(), options=options, locustfile=Path(), user_classes=())


def a_tally(operation: str = "lookup", count: int = 20_000, seconds: float = 2.0) -> Tally:
    """Return a window with `count` operations of 50 us."""
    took = histogram()
    took.record(50_000, count)
    step = Step(operation, operation, count, {}, 104 * count, 1_283 * count, took)
    end = 10 + round(seconds * 1e9)
    tally = Tally.starting(Drain(0, 10))
    tally.add(Drain(10, end, (step,), cpu_ns=(round(0.4e9 * seconds),)))
    return tally


def a_use(target_cpu_s: float | None = 1.9) -> Use:
    target = None if target_cpu_s is None else ProcessUse(target_cpu_s, 50_000_000)
    machine = MachineUse(busy_per_core=(0.9, 0.6), available_bytes=2_000_000_000)
    generator = ProcessUse(0.9, 20_000_000)
    return Use(
        seconds=2.0, target=target, generator=generator, machine=machine, target_is_local=True
    )


def summarised(
    tally: Tally,
    spec: PointSpec | None = None,
    use: Use | None = None,
    counts: Sequence[tuple[str, str]] = (),
    **more: Any,
) -> PointResult:
    """Return the result of a window; its operations are the steps of the specification's name."""
    spec = spec or a_spec()
    counts = counts or [(spec.operation, spec.operation)]
    return summarise(spec, tally, counts, use or a_use(), target_cores=1, native=True, **more)


def a_result(spec: PointSpec | None = None, count: int = 20_000) -> PointResult:
    """Return a valid result without warnings."""
    spec = spec or a_spec()
    return summarised(a_tally(spec.operation, count), spec)


def judged(result: PointResult, **verdict: Any) -> PointResult:
    """Change fields of the verdict of a result."""
    return replace(result, verdict=replace(result.verdict, **verdict))
