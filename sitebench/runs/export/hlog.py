"""HdrHistogram's interval log, version 1.3, which its own tools and their plotters read.

One line per step and drain: latency in nanoseconds, as precisely as it was recorded. Intervals
with the same tag merge into the histogram of that step and phase. A tag is

    <point>:<operation>@<entries>:<phase>:<program>.<step>

The log's clock starts when the first point did. A point's first drain is taken to begin when the
point did, which is early by what a Locust process takes to start.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sitebench._engine import Histogram
from sitebench.errors import BadFile
from sitebench.runs.point import PointSpec
from sitebench.runs.runfile import RunFile, StoredPoint, TimelineRow
from sitebench.runs.store import RunStore

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
NS_PER_MS = 1e6
"""The unit of the maximum that a log names in plain digits."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_IN_A_TAG = re.compile(r"[,\s]")
_START = re.compile(r"#\[StartTime: (\d+(?:\.\d+)?)")
_TAG = re.compile(r"Tag=([^,\s]*),(.*)")


def write(run: RunFile) -> Iterator[str]:
    """Yield the log's head, and a line per interval."""
    begun = [point for point in run.points() if point.started is not None]
    start = min((point.started or 0.0 for point in begun), default=0.0)
    yield "#[Logged with sitebench]"
    yield "#[Histogram log format version 1.3]"
    date = (_EPOCH + timedelta(seconds=start)).strftime("%a %b %d %H:%M:%S UTC %Y")
    yield f"#[StartTime: {start:.3f} (seconds since epoch), {date}]"
    yield LEGEND
    for point in begun:
        yield from _intervals(point, run.timeline(point.id), (point.started or 0.0) - start)


def _intervals(point: StoredPoint, rows: list[TimelineRow], offset_s: float) -> Iterator[str]:
    first_s = min((row.t_ns / 1e9 - row.seconds for row in rows), default=0.0)
    for row in rows:
        begin_s = offset_s + row.t_ns / 1e9 - row.seconds - first_s
        longest = Histogram.from_bytes(row.latency).max / NS_PER_MS
        encoded = base64.b64encode(row.latency).decode()
        yield f"Tag={_tag(point, row)},{begin_s:.3f},{row.seconds:.3f},{longest:.3f},{encoded}"


def _tag(point: StoredPoint, row: TimelineRow) -> str:
    spec = point.spec
    what = f"{point.id}:{spec.operation}@{spec.entries}:{row.phase}:{row.program}.{row.step}"
    return _NOT_IN_A_TAG.sub("_", what)


def read(lines: Iterable[str], name: str, out: Path) -> None:
    """Write a run file of the log's histograms: of one point without a result.

    A log says what the latencies were, not of what, at which load, nor how its generator fared:
    so there is nothing to pass a verdict on. Values are taken for nanoseconds, as HdrHistogram's
    own recorders keep them.
    """
    start, intervals = 0.0, []
    for number, line in enumerate(lines, 1):
        if found := _START.match(line):
            start = float(found[1])
        elif line.strip() and line[0] not in '#"':
            intervals.append(_interval(line.strip(), name, number))
    if not intervals:
        raise BadFile(
            f"{name} has no interval", "give a histogram log that something was logged to"
        )
    with RunStore(out) as store:
        store.set_manifest({"imported": {"from": name, "format": "HdrHistogram log"}})
        with store.restoring() as insert:
            _restore(intervals, start, name, insert)


@dataclass(frozen=True)
class _Interval:
    tag: str
    begin_s: float
    seconds: float
    latency: Histogram


def _interval(line: str, name: str, number: int) -> _Interval:
    tagged = _TAG.match(line)
    tag, line = tagged.groups() if tagged else ("all", line)
    try:
        begin, seconds, _, encoded = line.split(",")
        latency = Histogram.from_bytes(base64.b64decode(encoded, validate=True))
        return _Interval(tag, float(begin), float(seconds), latency)
    except ValueError as error:
        raise BadFile(
            f"{name}, line {number} is no interval of a histogram log: {error}",
            "give a log of compressed histograms, as HdrHistogram's own tools write it",
        ) from error


def _restore(
    intervals: list[_Interval],
    start: float,
    name: str,
    insert: Callable[[str, Mapping[str, Any]], None],
) -> None:
    first = min(each.begin_s for each in intervals)
    end = max(each.begin_s + each.seconds for each in intervals)
    spec = PointSpec("imported", Path(name).stem, 0, name, 0, None, 0.0, end - first, "imported")
    insert(
        "points",
        {
            "id": 1,
            "key": spec.key,
            "spec": spec.canonical(),
            "status": "measured",
            "started": start,
        },
    )
    totals: dict[str, Histogram] = {}
    for each in intervals:
        totals.setdefault(each.tag, Histogram()).add(each.latency)
        insert(
            "timeline",
            {
                **_step(each.tag, each.latency),
                "t_ns": round((each.begin_s - first + each.seconds) * 1e9),
                "seconds": each.seconds,
                "lanes": 0,
                "failures": 0,
            },
        )
    nothing = Histogram().to_bytes()
    for tag, latency in totals.items():
        insert(
            "steps", {**_step(tag, latency), "failures": "{}", "service": nothing, "lag": nothing}
        )


def _step(tag: str, latency: Histogram) -> dict[str, Any]:
    return {
        "point": 1,
        "phase": "measure",
        "program": "imported",
        "step": tag,
        "count": latency.count,
        "bytes_out": 0,
        "bytes_in": 0,
        "latency": latency.to_bytes(),
    }
