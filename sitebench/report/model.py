"""The contents of a report: the data of run files, and the names of their points."""

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
from sitebench.errors import BadRunFile, UnknownValue
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import advised_results
from sitebench.monitor.figures import rates
from sitebench.report.suite import ReportSuite
from sitebench.runs.export import csv, hlog
from sitebench.runs.point import PointResult, PointSpec, counted_steps
from sitebench.runs.repeats import Series, counted_points, series
from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.runs.timeline import Slot, merge_clocks, slots
from sitebench.suite import suites
from sitebench.units import format_rate, plural
from sitebench.verdict.verdict import Quoted

_SLOTS = 2_400
"""The most slots in all timelines together: a page of forty points then has at most 2 MB."""
_MOST_SLOTS, _LEAST_SLOTS = 120, 12

_LARGEST_DOWNLOAD = 500_000
"""The page does not contain files with more characters than this."""

Track = list[tuple[int, float]]
"""Values of one figure over time, (t_ns, value); a counter is converted to its rate per second."""


Peak = Mapping[str, Any]
"""An answer of the command `peak`, from the manifest."""


class Point(msgspec.Struct, frozen=True):
    id: str
    result: PointResult
    service: Histogram
    latency: Histogram
    censored: Histogram
    """These three histograms have the counted operations of the measured window."""
    slots: Sequence[Slot]
    tracks: Mapping[tuple[str, str], Track]

    @property
    def spec(self) -> PointSpec:
        return self.result.spec


class Run(msgspec.Struct, frozen=True, dict=True):
    label: str
    path: Path
    manifest: Mapping[str, Any]
    points: Sequence[Point]
    stored: Sequence[StoredPoint]
    downloads: Mapping[str, str]
    """The run file in other formats, by file name; files too large for the page are left out."""

    @property
    def objective(self) -> Objective | None:
        try:
            return Objective.of_manifest(self.manifest)
        except UnknownValue:
            return None  # A newer version wrote this specification.

    @cached_property
    def results(self) -> list[PointResult]:
        return advised_results((point.result for point in self.points), self.objective)

    @cached_property
    def series(self) -> list[Series]:
        return series(self.results)

    @cached_property
    def missing(self) -> list[StoredPoint]:
        return [point for point in self.stored if point.status != "done"]

    @property
    def count_in_words(self) -> str:
        """The number of points and, with repeats, of measurements."""
        n, points = len(self.points), len(self.series)
        if n == points:
            return plural(n, "point")
        return f"{n} measurements of {plural(points, 'point')}"

    def peaks_of(self, spec: PointSpec) -> list[Peak]:
        """Return the answers of `peak` to which this point belongs.

        A peak without an objective varies the users of a closed schedule; a peak with an objective
        varies the rate.
        """
        same = ("suite", "operation", "entries", "target", "client")
        expected = {name: getattr(spec, name) for name in same}
        return [
            peak
            for peak in self.manifest.get("peaks", ())
            if all(peak.get(key) == value for key, value in expected.items())
            and (peak.get("objective") is None) == (spec.rate is None)
        ]

    def found_at(self, series: Series) -> Peak | None:
        """Return the answer of the search that found the rate of this point, if any."""
        if series.spec.rate is None:
            return None
        keys = {series.spec.key, *(result.spec.key for result in series.results)}
        return next((p for p in self.peaks_of(series.spec) if p.get("best") in keys), None)

    def searches(self, suite: str, operation: str) -> list[Peak]:
        """Return the answers of the searches with an objective, for one operation."""
        return [
            peak
            for peak in self.manifest.get("peaks", ())
            if peak.get("objective") is not None
            and (peak.get("suite"), peak.get("operation")) == (suite, operation)
        ]

    def grades(self, series: Series) -> list[Quoted]:
        """Return the grade of each repeat; the answer of a search may have a lower grade."""
        quoted = [result.verdict.grade for result in series.results]
        if is_open(self.found_at(series)):
            return [Quoted.AT_LEAST if grade is Quoted.MEASURED else grade for grade in quoted]
        return quoted

    def probes(self, series: Series) -> bool:
        """Whether a search tried the rate of this point, but did not return it as its answer."""
        searched = series.spec.rate is not None and bool(self.peaks_of(series.spec))
        return searched and self.found_at(series) is None


class Report(msgspec.Struct, frozen=True, dict=True):
    runs: Sequence[Run]

    @cached_property
    def all_series(self) -> list[tuple[Run, Series]]:
        return [(run, series) for run in self.runs for series in run.series]

    @cached_property
    def points(self) -> list[Point]:
        return [point for run in self.runs for point in run.points]

    def suite(self, name: str) -> ReportSuite:
        """Return a suite's part of the report; the part of an unknown suite has no titles."""
        for suite in suites():
            if suite.name == name:
                return cast("ReportSuite", resolve_name(suite.report))
        return ReportSuite(name, name, "Size", "people")

    @cached_property
    def present(self) -> list[ReportSuite]:
        names = dict.fromkeys(series.spec.suite for _, series in self.all_series)
        return [self.suite(name) for name in names]

    def specs(self, suite: ReportSuite) -> list[PointSpec]:
        return [series.spec for _, series in self.all_series if series.spec.suite == suite.name]

    def operations(self, suite: ReportSuite) -> list[str]:
        return list(dict.fromkeys(spec.operation for spec in self.specs(suite)))

    def runs_of(self, suite: ReportSuite, operation: str) -> list[Run]:
        key = (suite.name, operation)
        return [
            run
            for run in self.runs
            if any((series.spec.suite, series.spec.operation) == key for series in run.series)
        ]

    def title_for(self, title: str, *runs: Run) -> str:
        names = " and ".join(run.label for run in runs)
        return title if len(self.runs) == len(runs) else f"{title}: {names}"

    def name(self, spec: PointSpec) -> str:
        suite = self.suite(spec.suite)
        return f"{suite.title_of(spec.operation)}, {suite.size_of(spec)}"

    def name_without_load(self, spec: PointSpec) -> str:
        """Return a point's operation, with its size unless the size is its number of users."""
        return self.name(spec) if spec.entries else self.suite(spec.suite).title_of(spec.operation)

    def distinct_name(self, spec: PointSpec, run: Run, ignoring: Sequence[str] = ()) -> str:
        """Return a point's name with the labels that distinguish it within its run."""
        specs = [*(point.spec for point in run.points), *(point.spec for point in run.missing)]
        comparable = (other for other in specs if other.operation == spec.operation)
        label = distinguishing_label(comparable, ignoring)(spec)
        return ", ".join(filter(None, (self.name(spec), label)))

    def measurement_name(self, spec: PointSpec, run: Run) -> str:
        return spec.with_repeat(self.distinct_name(spec, run))


def is_open(peak: Peak | None) -> bool:
    """Whether a search's answer is a lower bound, as it did not find the target's limit."""
    return peak is not None and not peak.get("seen")


def rate_of(peak: Peak) -> tuple[float, str]:
    """Return the rate of an answer, as a number and in words."""
    least = "at least " if is_open(peak) else ""
    return peak["rate"], f"{least}{format_rate(peak['rate'])}/s"


def load(paths: Sequence[Path]) -> Report:
    """Read run files; raises BadRunFile for a file without measured points.

    A single file without measured points is accepted if one of its points failed.
    """
    labels = _labels(paths)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(RunFile(path)) for path in paths]
        stored = [_read_points(file, alone=len(files) == 1) for file in files]
        n_done = sum(point.status == "done" for points in stored for point in points)
        max_slots = max(_LEAST_SLOTS, min(_MOST_SLOTS, _SLOTS // max(1, n_done)))
        return Report(
            [
                Run(
                    label,
                    file.path,
                    file.manifest(),
                    [_point(file, f"r{n}", p, max_slots) for p in counted_points(points)],
                    points,
                    _downloads(file, label),
                )
                for n, (file, label, points) in enumerate(zip(files, labels, stored, strict=True))
            ]
        )


def _read_points(file: RunFile, *, alone: bool) -> list[StoredPoint]:
    stored = file.points()
    failed = sum(point.status == "failed" for point in stored)
    if any(point.status == "done" for point in stored) or (failed and alone):
        return stored
    state = f"{failed} of them failed" if failed else "none is finished yet"
    remedy = f"finish the sweep first: sitebench resume {file.path}"
    if "command" not in file.manifest():
        remedy = "run the Python program that wrote it again, with the same out"
    if failed:
        remedy = f"see the failures in a report of this file alone: sitebench report {file.path}"
    raise BadRunFile(f"{file.path} has no measured point ({len(stored)} planned, {state})", remedy)


def _point(file: RunFile, run: str, stored: StoredPoint, max_slots: int) -> Point:
    assert stored.result is not None
    counted = counted_steps(stored.result.steps)
    service, latency, censored = merge_clocks(file, stored, SERVICE, LATENCY, CENSORED)
    return Point(
        f"{run}p{stored.id}",
        stored.result,
        service,
        latency,
        censored,
        slots(file.timeline(stored.id, counted), counted, max_slots),
        rates(file.samples(stored.id)),
    )


def _downloads(file: RunFile, label: str) -> dict[str, str]:
    name = Path(label).name
    exports = {f"{name}.csv": csv.points(file), f"{name}.hlog": hlog.points(file, merged=True)}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in exports.items()}
    return {name: text for name, text in texts.items() if len(text) <= _LARGEST_DOWNLOAD}


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return a label for each run file: its name or, if names repeat, its path."""
    stems = [path.name.removesuffix(".sitebench") for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [str(path) for path in paths]


def _labels_of(spec: PointSpec) -> dict[str, str]:
    """Return a point's labels, without its operation and size."""
    settings = {name: value for name, value in spec.settings.items() if name != "stages"}
    lanes = plural(spec.users, "user")
    labels = {
        "target": spec.target,
        "client": spec.client,
        **settings,
        "load": spec.load,
        "lanes": lanes,
        "windows": f"{spec.warmup_s:g} s + {spec.measure_s:g} s",
    }
    if spec.entries:
        return labels
    # Without people, the size in the point's name is the number of users.
    return {name: text for name, text in labels.items() if text != lanes}


LOAD = ("load", "lanes")
"""Labels whose values `load_name` contains."""
HOW_HARD = ("load", "arrivals", "lanes", "windows")
_BARE = ("target", "client", *HOW_HARD)
_SPARE = ("arrivals", "lanes", "windows")
"""Labels used only if no other label distinguishes two points."""


def distinguishing_label(
    specs: Iterable[PointSpec], ignoring: Sequence[str] = ()
) -> Callable[[PointSpec], str]:
    """Return a function that gives each of these points the shortest distinguishing label."""
    labelled = [(spec, _labels_of(spec)) for spec in specs]
    names = dict.fromkeys(name for _, labels in labelled for name in labels if name not in ignoring)
    differ = [name for name in names if len({labels.get(name) for _, labels in labelled}) > 1]
    needed = [name for name in differ if name not in _SPARE]
    for name in (name for name in differ if name in _SPARE):
        same: dict[tuple[Any, ...], set[str]] = {}
        for spec, labels in labelled:
            words = (spec.operation, spec.size, *(labels.get(label) for label in needed))
            same.setdefault(words, set()).add(labels.get(name, ""))
        if any(len(values) > 1 for values in same.values()):
            needed.append(name)

    def call(spec: PointSpec) -> str:
        labels = _labels_of(spec)
        words = [labels[n] if n in _BARE else f"{n}={labels[n]}" for n in needed if n in labels]
        return ", ".join(words)

    return call


def variant_name(spec: PointSpec) -> str:
    """Return the same key for points that differ only in size and load."""
    labels = {k: v for k, v in _labels_of(spec).items() if k not in HOW_HARD}
    return json.dumps({"suite": spec.suite, "operation": spec.operation, **labels}, sort_keys=True)


def load_key(spec: PointSpec) -> str:
    """Return the same key for points of equal load and equal length.

    If a target has no people, the number of users is the size of the point, not its load.
    """
    users = spec.users if spec.entries else None
    load = spec.settings.get("stages", spec.rate)
    return json.dumps([users, load, spec.arrivals, spec.warmup_s, spec.measure_s])
