"""What a report shows: run files, read once and closed, and how their points are called."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

from sitebench._engine import Histogram
from sitebench.errors import BadRunFile
from sitebench.monitor.figures import rates
from sitebench.report.suite import ReportSuite
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Series, series
from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.runs.timeline import Slot, counted_steps, slots
from sitebench.suite import suites
from sitebench.units import format_rate, format_size

SLOTS = 2_400
"""Slots of all timelines together: a screen shows no more of one point than a twentieth of them,
and forty points still fit a page of 2 MB."""
MOST_SLOTS, LEAST_SLOTS = 120, 12

Lane = list[tuple[int, float]]
"""Values of one sample's name over time: (t_ns, value); rates where it is a counter."""


@dataclass(frozen=True)
class Clocks:
    """The measured window's histograms of the operations that count."""

    service: Histogram
    latency: Histogram
    lag: Histogram


@dataclass(frozen=True)
class Point:
    """One measured point, with what it did over time."""

    id: str
    run: str
    result: PointResult
    clocks: Clocks
    slots: Sequence[Slot]
    lanes: Mapping[tuple[str, str], Lane]

    @property
    def spec(self) -> PointSpec:
        """What was measured."""
        return self.result.spec


@dataclass(frozen=True)
class Run:
    """One run file."""

    label: str
    path: Path
    manifest: Mapping[str, Any]
    points: Sequence[Point]
    stored: Sequence[StoredPoint]

    @cached_property
    def results(self) -> list[PointResult]:
        """What was measured, in order."""
        return [point.result for point in self.points]

    @cached_property
    def series(self) -> list[Series]:
        """What was measured, repeats together."""
        return series(self.results)

    @cached_property
    def missing(self) -> list[StoredPoint]:
        """Points that failed, or are not measured yet."""
        return [each for each in self.stored if each.status != "done"]


@dataclass(frozen=True)
class Report:
    """Everything a section may ask for."""

    runs: Sequence[Run]

    @cached_property
    def measured(self) -> list[tuple[Run, Series]]:
        """Every series of every run."""
        return [(run, each) for run in self.runs for each in run.series]

    @cached_property
    def points(self) -> list[Point]:
        """Every point of every run."""
        return [point for run in self.runs for point in run.points]

    def suite(self, name: str) -> ReportSuite:
        """Return what is known of a suite; of one this version does not know, its name."""
        for each in suites():
            if each.name == name:
                return cast("ReportSuite", resolve_name(each.report))
        return ReportSuite(name, name, "Size", "people", ())

    @cached_property
    def present(self) -> list[ReportSuite]:
        """The suites that something was measured of."""
        found = dict.fromkeys(each.spec.half for _, each in self.measured)
        return [self.suite(name) for name in found]


def load(paths: Sequence[Path]) -> Report:
    """Read run files; refuses those with nothing measured."""
    labels = _labels(paths)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(RunFile(path)) for path in paths]
        stored = [_stored(file) for file in files]
        done = sum(each.status == "done" for points in stored for each in points)
        most = max(LEAST_SLOTS, min(MOST_SLOTS, SLOTS // done))
        runs = [
            _run(file, f"r{n}", label, points, most)
            for n, (file, label, points) in enumerate(zip(files, labels, stored, strict=True))
        ]
    return Report(runs)


def _stored(file: RunFile) -> list[StoredPoint]:
    stored = file.points()
    if not any(each.status == "done" for each in stored):
        failed = sum(each.status == "failed" for each in stored)
        said = f"{failed} of them failed" if failed else "none is finished yet"
        raise BadRunFile(
            f"{file.path} has no measured point ({len(stored)} planned, {said})",
            "finish the sweep first: the same command with the same --out goes on with it",
        )
    return stored


def _run(file: RunFile, name: str, label: str, stored: Sequence[StoredPoint], most: int) -> Run:
    done = [each for each in stored if each.status == "done"]
    points = [_point(file, name, each, most) for each in done]
    return Run(label, file.path, file.manifest(), points, stored)


def _point(file: RunFile, run: str, stored: StoredPoint, most: int) -> Point:
    assert stored.result is not None
    result = stored.result
    counted = counted_steps(result)
    clocks = Clocks(Histogram(), Histogram(), Histogram())
    for step in file.histograms(stored.id):
        if (step.program, step.step) in counted:
            clocks.service.add(step.service)
            clocks.latency.add(step.latency)
            clocks.lag.add(step.lag)
    return Point(
        f"{run}p{stored.id}",
        run,
        result,
        clocks,
        slots(file.timeline(stored.id, counted), counted, most),
        rates(file.samples(stored.id)),
    )


def _labels(paths: Sequence[Path]) -> list[str]:
    """Call runs by their files' names, with folders only where names are the same."""
    stems = [path.name.removesuffix(".sitebench") for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [str(path) for path in paths]


_LOAD = ("entries", "users", "rate", "target", "client", "warmup", "measure")
"""Settings that a point's own fields say already."""


def traits(spec: PointSpec) -> dict[str, str]:
    """Return what a point was, beside its operation and size, by name of the trait."""
    kept = {name: value for name, value in spec.settings.items() if name not in _LOAD}
    lanes = f"{spec.users:,} user{'s' if spec.users > 1 else ''}"
    return {
        "target": spec.target,
        "client": spec.client,
        **kept,
        "load": lanes if spec.rate is None else f"{format_rate(spec.rate)}/s",
        "lanes": lanes,
        "windows": f"{spec.warmup_s:g} s + {spec.measure_s:g} s",
    }


HOW_HARD = ("load", "lanes", "windows")
_BARE = ("target", "client", *HOW_HARD)
_SPARE = ("lanes", "windows")
"""Said only of points that nothing else tells apart."""


def telling(specs: Iterable[PointSpec], ignoring: Sequence[str] = ()) -> Callable[[PointSpec], str]:
    """Return how to call each of these points by no more than tells it from the others."""
    known = [(spec, traits(spec)) for spec in specs]
    every = dict.fromkeys(name for _, mine in known for name in mine if name not in ignoring)
    differ = [name for name in every if len({mine.get(name) for _, mine in known}) > 1]
    wanted = [name for name in differ if name not in _SPARE]
    for name in (name for name in differ if name in _SPARE):
        alike: dict[tuple[Any, ...], set[str]] = {}
        for spec, mine in known:
            words = (spec.operation, spec.entries, *(mine.get(each) for each in wanted))
            alike.setdefault(words, set()).add(mine[name])
        if any(len(values) > 1 for values in alike.values()):
            wanted.append(name)

    def call(spec: PointSpec) -> str:
        mine = traits(spec)
        words = [mine[n] if n in _BARE else f"{n}={mine[n]}" for n in wanted if n in mine]
        return ", ".join(words)

    return call


def named(spec: PointSpec, people: str, operation: str) -> str:
    """Return an operation and its size in words."""
    return f"{operation}, {format_size(spec.entries)} {people}"


def variant(spec: PointSpec) -> str:
    """Return what stays the same between points that differ in size and load only."""
    kept = {k: v for k, v in traits(spec).items() if k not in HOW_HARD}
    return json.dumps({"half": spec.half, "operation": spec.operation, **kept}, sort_keys=True)
