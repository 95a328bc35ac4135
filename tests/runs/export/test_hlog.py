"""The histogram log, read by its specification: HdrHistogram's log format 1.3."""

import base64
import re
from collections import Counter
from pathlib import Path

import pytest

from sitebench._engine import Histogram
from sitebench.errors import BadFile
from sitebench.runs.export import hlog
from sitebench.runs.runfile import RunFile
from tests.support.drains import histogram
from tests.support.runs import SCHEMA_1

SECONDS = r"(\d+\.\d{3})"
INTERVAL = re.compile(rf"(?:Tag=([^,\s]+),)?{SECONDS},{SECONDS},{SECONDS},([A-Za-z0-9+/]+=*)")
V2_COMPRESSED = 0x1C849304 | 0x10
"""The cookie of an encoding that is compressed, per HdrHistogram's `EncodableHistogram`."""


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


@pytest.mark.parametrize("made", [True, False])
def test_every_interval_is_there_with_every_count(path: Path, made: bool) -> None:
    with RunFile(path if made else SCHEMA_1) as run:
        lines = list(hlog.write(run))
        rows = [row for point in run.points() for row in run.timeline(point.id)]
    read = intervals(lines)
    assert [each[4] for each in read] == [Histogram.from_bytes(row.latency) for row in rows]
    assert [round(each[2], 3) for each in read] == [round(row.seconds, 3) for row in rows]
    assert [each[3] for each in read] == [round(each[4].max / 1e6, 3) for each in read]


def test_the_head_names_the_version_and_the_start(run: RunFile) -> None:
    lines = list(hlog.write(run))
    assert "#[Histogram log format version 1.3]" in lines
    start = next(line for line in lines if line.startswith("#[StartTime: "))
    assert float(start.split()[1]) == pytest.approx(run.points()[0].started, abs=0.001)
    assert lines[3].split(",")[0] == '"StartTimestamp"'


def test_a_tag_names_point_phase_and_step_without_what_would_end_it(run: RunFile) -> None:
    tags = Counter(each[0] for each in intervals(list(hlog.write(run))))
    assert tags == {
        "1:lookup@1000:measure:lookup.lookup": 3,
        "1:lookup@1000:measure:lookup.bind__simple": 3,
    }


def test_intervals_follow_each_other(run: RunFile) -> None:
    read = [each for each in intervals(list(hlog.write(run))) if each[0].endswith(".lookup")]
    assert [each[1] for each in read] == [0.0, 1.0, 2.0]


def test_a_log_of_another_tool_becomes_histograms_without_a_result(tmp_path: Path) -> None:
    def encoded(*values: int) -> str:
        return base64.b64encode(histogram(*values).to_bytes()).decode()

    log = [
        "#[Logged with jHiccup]",
        "#[Histogram log format version 1.2]",
        "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]",
        hlog.LEGEND,
        f"0.127,1.007,2.769,{encoded(1_000, 2_000)}",
        f"1.134,0.999,0.442,{encoded(3_000)}",
        f"Tag=B,1.134,0.999,0.442,{encoded(9_000)}",
    ]
    hlog.read(log, "their.hlog", tmp_path / "out")
    with RunFile(tmp_path / "out") as run:
        (point,) = run.points()
        assert point.result is None
        assert run.results() == []
        assert point.started == 1441812279.474
        assert point.spec.measure_s == pytest.approx(2.006)
        latencies = {each.step: each.latency for each in run.histograms(point.id)}
        assert latencies == {"all": histogram(1_000, 2_000, 3_000), "B": histogram(9_000)}
        assert [each[1:3] for each in intervals(list(hlog.write(run)))] == [
            (0.0, 1.007),
            (1.007, 0.999),
            (1.007, 0.999),
        ]


def test_a_broken_interval_is_named_by_its_line(tmp_path: Path) -> None:
    good = f"0.0,1.0,0.001,{base64.b64encode(histogram(1).to_bytes()).decode()}"
    for bad in ("1.0,1.0,0.001", "1.0,1.0,0.001,HISTF", good[:-8], f"one,{good[4:]}"):
        with pytest.raises(BadFile, match=r"their\.hlog, line 2 is no interval"):
            hlog.read([good, bad], "their.hlog", tmp_path / "out")


def test_a_log_without_an_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="has no interval"):
        hlog.read([hlog.LEGEND], "their.hlog", tmp_path / "out")
