"""The contents of a report: run files, read once and closed, and the names of their points."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import msgspec

from sitebench._engine import Histogram
from sitebench.counts.metrics import CENSORED, LATENCY, SERVICE
from sitebench.errors import BadRunFile
from sitebench.monitor.figures import rates
from sitebench.report.suite import ReportSuite
from sitebench.runs.export import csv, hlog
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Series, counted, series
from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.runs.timeline import Slot, counted_steps, slots
from sitebench.suite import suites
from sitebench.units import format_rate, plural

_SLOTS = 2_400
"""Slots of all timelines together: one point shows at most a twentieth of them, and forty points
still fit a page of 2 MB."""
_MOST_SLOTS, _LEAST_SLOTS = 120, 12

_LARGEST_DOWNLOAD = 500_000
"""Characters of one file in the page: its histograms do not shrink further."""

Track = list[tuple[int, float]]
"""Values of one figure over time: (t_ns, value); of a counter, its rate."""


class Point(msgspec.Struct, frozen=True):
    """One measured point, with what it did over time."""

    id: str
    run: str
    result: PointResult
    service: Histogram
    latency: Histogram
    censored: Histogram
    """Over the measured window, of the operations that count."""
    slots: Sequence[Slot]
    tracks: Mapping[tuple[str, str], Track]

    @property
    def spec(self) -> PointSpec:
        return self.result.spec


class Run(msgspec.Struct, frozen=True, dict=True):
    """One run file."""

    label: str
    path: Path
    manifest: Mapping[str, Any]
    points: Sequence[Point]
    stored: Sequence[StoredPoint]
    downloads: Mapping[str, str]
    """The run file in other formats, by file name; none that would make the page too large."""

    @cached_property
    def results(self) -> list[PointResult]:
        return [point.result for point in self.points]

    @cached_property
    def series(self) -> list[Series]:
        return series(self.results)

    @cached_property
    def missing(self) -> list[StoredPoint]:
        """Points that failed, or are not measured yet."""
        return [each for each in self.stored if each.status != "done"]

    @property
    def counted(self) -> str:
        """How many measurements there are, in words: a table has one row for all of a point."""
        n, points = len(self.points), len(self.series)
        if n == points:
            return plural(n, "point")
        return f"{n} measurements of {plural(points, 'point')}"

    def peaks_of(self, spec: PointSpec) -> list[Mapping[str, Any]]:
        """Return the answers of `peak` that this point was measured for.

        Numbers of clients are swept closed, rates are searched open.
        """
        same = ("suite", "operation", "entries", "target", "client")
        asked = {name: getattr(spec, name) for name in same}
        return [
            peak
            for peak in self.manifest.get("peaks", ())
            if all(peak.get(key) == value for key, value in asked.items())
            and (peak.get("objective") is None) == (spec.rate is None)
        ]

    def found_at(self, each: Series) -> Mapping[str, Any] | None:
        """Return the answer of a search to an objective, if this is the point that holds it."""
        if each.spec.rate is None:
            return None
        keys = {each.spec.key, *(result.spec.key for result in each.results)}
        return next((p for p in self.peaks_of(each.spec) if p.get("best") in keys), None)

    def probes(self, each: Series) -> bool:
        """Whether this is a rate that a search for the highest only tried."""
        searched = each.spec.rate is not None and bool(self.peaks_of(each.spec))
        return searched and self.found_at(each) is None


class Report(msgspec.Struct, frozen=True, dict=True):
    """Everything a section can show."""

    runs: Sequence[Run]

    @cached_property
    def measured(self) -> list[tuple[Run, Series]]:
        return [(run, each) for run in self.runs for each in run.series]

    @cached_property
    def points(self) -> list[Point]:
        return [point for run in self.runs for point in run.points]

    def suite(self, name: str) -> ReportSuite:
        """Return a suite's titles and tables; for an unknown suite, its name."""
        for each in suites():
            if each.name == name:
                return cast("ReportSuite", resolve_name(each.report))
        return ReportSuite(name, name, "Size", "people")

    @cached_property
    def present(self) -> list[ReportSuite]:
        """The suites that have points in the report."""
        found = dict.fromkeys(each.spec.suite for _, each in self.measured)
        return [self.suite(name) for name in found]

    def specs(self, suite: ReportSuite) -> list[PointSpec]:
        """Return what was measured of a suite."""
        return [each.spec for _, each in self.measured if each.spec.suite == suite.name]

    def operations(self, suite: ReportSuite) -> list[str]:
        """Return the operations of a suite that were measured."""
        return list(dict.fromkeys(spec.operation for spec in self.specs(suite)))

    def runs_of(self, suite: ReportSuite, operation: str) -> list[Run]:
        """Return the runs that measured an operation."""
        wanted = (suite.name, operation)
        return [
            run
            for run in self.runs
            if any((each.spec.suite, each.spec.operation) == wanted for each in run.series)
        ]

    def titled(self, title: str, *runs: Run) -> str:
        """Return the title of a table of these runs, which names them if there are others."""
        names = " and ".join(run.label for run in runs)
        return title if len(self.runs) == len(runs) else f"{title}: {names}"

    def name(self, spec: PointSpec) -> str:
        """Return a point's operation and size."""
        suite = self.suite(spec.suite)
        return f"{suite.title_of(spec.operation)}, {suite.sized(spec)}"

    def what(self, spec: PointSpec) -> str:
        """Return what loads of a point have in common: its operation, and its size if any."""
        return self.name(spec) if spec.entries else self.suite(spec.suite).title_of(spec.operation)

    def distinct_name(self, spec: PointSpec, run: Run, ignoring: Sequence[str] = ()) -> str:
        """Return a point's name among the others of its run."""
        specs = [*(each.spec for each in run.points), *(each.spec for each in run.missing)]
        others = (each for each in specs if each.operation == spec.operation)
        label = distinguishing_label(others, ignoring)(spec)
        return ", ".join(filter(None, (self.name(spec), label)))


def load(paths: Sequence[Path]) -> Report:
    """Read run files; refuses those without a measured point, unless it is one that failed."""
    labels = _labels(paths)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(RunFile(path)) for path in paths]
        stored = [_stored(file, alone=len(files) == 1) for file in files]
        done = sum(each.status == "done" for points in stored for each in points)
        most = max(_LEAST_SLOTS, min(_MOST_SLOTS, _SLOTS // max(1, done)))
        return Report(
            [
                Run(
                    label,
                    file.path,
                    file.manifest(),
                    [_point(file, f"r{n}", p, most) for p in _counted(points)],
                    points,
                    _downloads(file, label),
                )
                for n, (file, label, points) in enumerate(zip(files, labels, stored, strict=True))
            ]
        )


def _stored(file: RunFile, *, alone: bool) -> list[StoredPoint]:
    stored = file.points()
    failed = sum(each.status == "failed" for each in stored)
    if any(each.status == "done" for each in stored) or (failed and alone):
        return stored
    state = f"{failed} of them failed" if failed else "none is finished yet"
    remedy = f"finish the sweep first: sitebench resume {file.path}"
    if failed:
        remedy = f"see what failed, in a report of its own: sitebench report {file.path}"
    raise BadRunFile(f"{file.path} has no measured point ({len(stored)} planned, {state})", remedy)


def _counted(stored: Sequence[StoredPoint]) -> list[StoredPoint]:
    """Return the points that are done; of two tries, the one that counts."""
    done = [each for each in stored if each.status == "done"]
    chosen = {each.spec.key for each in counted(p.result for p in done if p.result is not None)}
    return [each for each in done if each.spec.key in chosen]


def _point(file: RunFile, run: str, stored: StoredPoint, most: int) -> Point:
    assert stored.result is not None
    counted = counted_steps(stored.result)
    service, latency, censored = Histogram(), Histogram(), Histogram()
    for step in file.steps(stored.id):
        if (step.program, step.step) in counted:
            service.add(step.clocks[SERVICE])
            latency.add(step.clocks[LATENCY])
            censored.add(step.clocks[CENSORED])
    return Point(
        f"{run}p{stored.id}",
        run,
        stored.result,
        service,
        latency,
        censored,
        slots(file.timeline(stored.id, counted), counted, most),
        rates(file.samples(stored.id)),
    )


def _downloads(file: RunFile, label: str) -> dict[str, str]:
    name = Path(label).name
    made = {
        f"{name}.csv": csv.points(file),
        f"{name}.hlog": hlog.points(file, merged=True),
    }
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in made.items()}
    return {name: text for name, text in texts.items() if len(text) <= _LARGEST_DOWNLOAD}


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return the name of each run: that of its file, with the folder if names repeat."""
    stems = [path.name.removesuffix(".sitebench") for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [str(path) for path in paths]


def _labels_of(spec: PointSpec) -> dict[str, str]:
    """Return what a point was, in addition to its operation and size, by name."""
    kept = {name: value for name, value in spec.settings.items() if name != "stages"}
    lanes = f"{spec.users:,} user{'s' if spec.users > 1 else ''}"
    load = lanes if spec.rate is None else f"{format_rate(spec.rate)}/s"
    if spec.stages is not None:
        load = spec.stages.name
    found = {
        "target": spec.target,
        "client": spec.client,
        **kept,
        "load": load,
        "lanes": lanes,
        "windows": f"{spec.warmup_s:g} s + {spec.measure_s:g} s",
    }
    if spec.entries:
        return found
    # Its users are the point's size, which its name has.
    return {name: text for name, text in found.items() if text != lanes}


LOAD = ("load", "lanes")
"""Labels that `load_name` says."""
HOW_HARD = ("load", "arrivals", "lanes", "windows")
_BARE = ("target", "client", *HOW_HARD)
_SPARE = ("arrivals", "lanes", "windows")
"""Labels used only if no other one distinguishes two points."""


def distinguishing_label(
    specs: Iterable[PointSpec], ignoring: Sequence[str] = ()
) -> Callable[[PointSpec], str]:
    """Return a function that labels each of these points as briefly as distinguishes them."""
    known = [(spec, _labels_of(spec)) for spec in specs]
    every = dict.fromkeys(name for _, mine in known for name in mine if name not in ignoring)
    differ = [name for name in every if len({mine.get(name) for _, mine in known}) > 1]
    wanted = [name for name in differ if name not in _SPARE]
    for name in (name for name in differ if name in _SPARE):
        same: dict[tuple[Any, ...], set[str]] = {}
        for spec, mine in known:
            words = (spec.operation, spec.size, *(mine.get(each) for each in wanted))
            same.setdefault(words, set()).add(mine.get(name, ""))
        if any(len(values) > 1 for values in same.values()):
            wanted.append(name)

    def call(spec: PointSpec) -> str:
        mine = _labels_of(spec)
        words = [mine[n] if n in _BARE else f"{n}={mine[n]}" for n in wanted if n in mine]
        return ", ".join(words)

    return call


def variant_name(spec: PointSpec) -> str:
    """Return the key that points share if they differ only in size and load."""
    kept = {k: v for k, v in _labels_of(spec).items() if k not in HOW_HARD}
    return json.dumps({"suite": spec.suite, "operation": spec.operation, **kept}, sort_keys=True)


def load_key(spec: PointSpec) -> str:
    """Return the key that points share if they were measured as hard and as long.

    Without people, the number of users is a point's size, as the number of people is of others.
    """
    users = spec.users if spec.entries else None
    load = spec.settings.get("stages", spec.rate)
    return json.dumps([users, load, spec.arrivals, spec.warmup_s, spec.measure_s])
