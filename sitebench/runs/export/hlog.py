"""HdrHistogram's interval log, version 1.3, for HdrHistogram's own tools and for plotters.

There is a line per step and drain or, if merged, per step and window. Latencies are in nanoseconds,
with full precision. Intervals with the same tag merge to the histogram of that step and phase. A
tag is

    <point>:<operation>@<entries>:<phase>:<program>.<step>

The log's clock starts with the first point. The first drain of a point is assumed to begin with the
point; in fact it begins later, by the time that a Locust process takes to start.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sitebench._engine import Histogram
from sitebench.counts.metrics import LATENCY
from sitebench.runs.runfile import RunFile, StoredPoint, TimelineRow

_LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
_NS_PER_MS = 1e6
"""`Interval_Max` is in milliseconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_IN_A_TAG = re.compile(r"[,\s]")


def points(run: RunFile, *, merged: bool = False) -> Iterator[str]:
    """Yield the head, and a line per interval: a drain or, merged, the measured window."""
    begun = [point for point in run.points() if point.started is not None]
    start = min((point.started or 0.0 for point in begun), default=0.0)
    yield "#[Logged with sitebench]"
    yield "#[Histogram log format version 1.3]"
    date = (_EPOCH + timedelta(seconds=start)).strftime("%a %b %d %H:%M:%S UTC %Y")
    yield f"#[StartTime: {start:.3f} (seconds since epoch), {date}]"
    yield _LEGEND
    for point in begun:
        offset_s = (point.started or 0.0) - start
        yield from (
            _windows(run, point, offset_s)
            if merged
            else _intervals(point, run.timeline(point.id), offset_s)
        )


def _windows(run: RunFile, point: StoredPoint, offset_s: float) -> Iterator[str]:
    if point.result is None:
        return
    for step in run.steps(point.id):
        tag = _tag(point, "measure", step.program, step.step)
        begin_s = offset_s + point.spec.warmup_s
        yield _line(tag, begin_s, point.result.seconds, step.clocks[LATENCY].to_bytes())


def _intervals(point: StoredPoint, rows: list[TimelineRow], offset_s: float) -> Iterator[str]:
    first_s = min((row.t_ns / 1e9 - row.seconds for row in rows), default=0.0)
    for row in rows:
        begin_s = offset_s + row.t_ns / 1e9 - row.seconds - first_s
        tag = _tag(point, row.phase, row.program, row.step)
        yield _line(tag, begin_s, row.seconds, row.latency)


def _line(tag: str, begin_s: float, seconds: float, latency: bytes) -> str:
    longest = Histogram.from_bytes(latency).max / _NS_PER_MS
    encoded = base64.b64encode(latency).decode()
    return f"Tag={tag},{begin_s:.3f},{seconds:.3f},{longest:.3f},{encoded}"


def _tag(point: StoredPoint, phase: str, program: str, step: str) -> str:
    spec = point.spec
    tag = f"{point.id}:{spec.operation}@{spec.entries}:{phase}:{program}.{step}"
    return _NOT_IN_A_TAG.sub("_", tag)
