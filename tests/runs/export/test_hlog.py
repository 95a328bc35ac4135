"""The histogram log, parsed by its specification: HdrHistogram's log format 1.3."""

import base64
import re
from collections import Counter

import pytest

from sitebench._engine import Histogram
from sitebench.runs.export import hlog
from sitebench.runs.runfile import RunFile

SECONDS = r"(\d+\.\d{3})"
INTERVAL = re.compile(rf"(?:Tag=([^,\s]+),)?{SECONDS},{SECONDS},{SECONDS},([A-Za-z0-9+/]+=*)")
V2_COMPRESSED = 0x1C849304 | 0x10
"""The cookie of a compressed encoding, by HdrHistogram's `EncodableHistogram`."""


def intervals(lines: list[str]) -> list[tuple[str, float, float, float, Histogram]]:
    found = []
    for line in lines:
        if line.startswith(("#", '"')):
            continue
        parts = INTERVAL.fullmatch(line)
        assert parts, line
        encoded = base64.b64decode(parts[5], validate=True)
        assert int.from_bytes(encoded[:4]) == V2_COMPRESSED
        times = [float(each) for each in parts.groups()[1:4]]
        found.append((parts[1], *times, Histogram.from_bytes(encoded)))
    return found  # type: ignore[return-value]


def test_export_has_every_interval_with_all_counts(run: RunFile) -> None:
    lines = list(hlog.points(run))
    rows = [row for point in run.points() for row in run.timeline(point.id)]
    read = intervals(lines)
    assert [each[4] for each in read] == [Histogram.from_bytes(row.latency) for row in rows]
    assert [round(each[2], 3) for each in read] == [round(row.seconds, 3) for row in rows]
    assert [each[3] for each in read] == [round(each[4].max / 1e6, 3) for each in read]


def test_merged_export_has_the_measured_window_of_each_step(run: RunFile) -> None:
    lines = list(hlog.points(run, merged=True))
    done = [point for point in run.points() if point.result is not None]
    steps = [(point, step) for point in done for step in run.steps(point.id)]
    read = intervals(lines)
    assert [each[4] for each in read] == [step.clocks["latency"] for _, step in steps]
    lasted = [point.result.seconds for point, _ in steps if point.result is not None]
    assert [each[2] for each in read] == pytest.approx(lasted, abs=0.001)


def test_log_head_has_the_version_and_the_start(run: RunFile) -> None:
    lines = list(hlog.points(run))
    assert "#[Histogram log format version 1.3]" in lines
    start = next(line for line in lines if line.startswith("#[StartTime: "))
    assert float(start.split()[1]) == pytest.approx(run.points()[0].started, abs=0.001)
    assert lines[3].split(",")[0] == '"StartTimestamp"'


def test_log_tag_has_point_phase_and_step_without_delimiters(run: RunFile) -> None:
    tags = Counter(each[0] for each in intervals(list(hlog.points(run))))
    assert tags == {
        "1:lookup@1000:measure:lookup.lookup": 3,
        "1:lookup@1000:measure:lookup.bind__simple": 3,
    }


def test_log_intervals_are_contiguous(run: RunFile) -> None:
    read = [each for each in intervals(list(hlog.points(run))) if each[0].endswith(".lookup")]
    assert [each[1] for each in read] == [0.0, 1.0, 2.0]
