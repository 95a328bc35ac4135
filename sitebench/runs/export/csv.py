"""CSV for spreadsheets and data frames: one row per point, step, drain, or reading.

The row of a point has every figure of its result. Names of nested figures are joined with dots
(`latency_us.p99`), lists are JSON, intervals are as in tables. An unknown figure is an empty field,
never a zero.
"""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts import metrics
from sitebench.counts.durations import Durations
from sitebench.runs.repeats import counted_points
from sitebench.runs.runfile import RunFile, StoredPoint
from sitebench.units import format_interval

_Row = Mapping[str, Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A "file" whose `write` returns the line, so that `csv.writer` returns the line too."""

    def write(self, line: str) -> str:
        return line


def _lines(rows_of: Callable[[RunFile], Iterable[_Row]]) -> Callable[[RunFile], Iterator[str]]:
    @functools.wraps(rows_of)
    def lines(run: RunFile) -> Iterator[str]:
        rows = list(rows_of(run))
        columns = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(_Echo(), columns, lineterminator="")
        yield writer.writeheader()
        yield from (writer.writerow({k: _harmless(v) for k, v in row.items()}) for row in rows)

    return lines


@_lines
def points(run: RunFile) -> Iterator[_Row]:
    """Yield a row per point, whatever its status; the worse of two tries is "not counted"."""
    stored = run.points()
    counted = {point.id for point in counted_points(stored)}
    for point in stored:
        is_discarded = point.status == "done" and point.id not in counted
        result = {} if point.result is None else point.result.to_json()
        for repeated in ("operation", "entries", "spec", "steps", "spans"):
            result.pop(repeated, None)
        intervals = result.get(metrics.LATENCY.key, {}).get("intervals", {})
        for name, (low, high) in intervals.items():
            intervals[name] = format_interval(low, high, _figure)
        yield {
            **_point_columns(point),
            "target.name": point.spec.target,
            "users": point.spec.users,
            "rate": point.spec.rate,
            "status": "not counted" if is_discarded else point.status,
            **dict(_flat("", result)),
            "error": None if point.error is None else point.error.get("message"),
            "started": point.started,
            "finished": point.finished,
            **dict(_flat("settings", point.spec.settings)),
        }


@_lines
def steps(run: RunFile) -> Iterator[_Row]:
    for point in run.points():
        for step in run.steps(point.id):
            yield {
                **_point_columns(point),
                "program": step.program,
                "step": step.step,
                "count": step.count,
                "failures": step.failed,
                "failures_by_kind": json.dumps(step.failures),
                **{counter.column: step.counters[counter] for counter in metrics.COUNTERS},
                **{k: v for c in metrics.CLOCKS for k, v in _summary(c, step.clocks[c])},
            }


@_lines
def spans(run: RunFile) -> Iterator[_Row]:
    """Yield a row per span of each point in stages, with the operations due in the span."""
    for point in run.points():
        for span in () if point.result is None else point.result.spans:
            yield {**_point_columns(point), **dict(_flat("", span.to_json()))}


@_lines
def timeline(run: RunFile) -> Iterator[_Row]:
    """Yield a row per step and drain; percentiles of too few operations are empty."""
    for point in run.points():
        for row in run.timeline(point.id):
            plain = row._asdict()
            took = Histogram.from_bytes(plain.pop("latency"))
            yield _point_columns(point) | plain | dict(_summary(metrics.LATENCY, took))


@_lines
def samples(run: RunFile) -> Iterator[_Row]:
    for point in run.points():
        of_point = _point_columns(point)
        for row in run.samples(point.id):
            yield of_point | row._asdict()


def _harmless(value: Any) -> Any:
    """Return a text that no spreadsheet reads as a formula: it begins with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _point_columns(point: StoredPoint) -> dict[str, Any]:
    spec = point.spec
    return {
        "point": point.id,
        "suite": spec.suite,
        "operation": spec.operation,
        "entries": spec.entries,
        "repeat": spec.repeat,
    }


def _summary(clock: metrics.Clock, took: Histogram) -> Iterator[tuple[str, Any]]:
    return _flat(clock.key, Durations.of(took).to_json())


def _figure(value: float) -> str:
    return f"{value:.6g}"


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, child)
    elif isinstance(value, (list, tuple)):
        yield prefix, json.dumps(value)
    else:
        yield prefix, value
