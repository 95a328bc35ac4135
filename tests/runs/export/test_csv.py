"""CSV: every figure in a separate column, and empty fields for unknown values."""

import json
from csv import DictReader
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.cli.export import FORMATS, as_text
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec
from tests.support.runs import write_run


def read(run: RunFile, what: str) -> list[dict[str, str]]:
    return list(DictReader(as_text(run, "csv", what)))


def test_every_point_has_a_row_whatever_its_status(run: RunFile) -> None:
    done, failed, planned = read(run, "points")
    assert [row["status"] for row in (done, failed, planned)] == ["done", "failed", "pending"]
    assert failed["error"] == 'it "died", so'
    assert (planned["operation"], planned["rate"], planned["repeat"]) == ("add", "5000.0", "1")


def test_every_figure_of_a_result_is_in_its_row(run: RunFile) -> None:
    (done, *_) = read(run, "points")
    result = a_result()
    assert float(done["ops_per_s"]) == result.ops_per_s
    assert float(done["latency_us.p99"]) == result.clocks["latency"].percentiles["p99"]
    assert int(done["latency_us.n"]) == result.clocks["latency"].n
    assert done["verdict"] == result.verdict.bound
    assert done["settings.a"] == "b"


def test_interval_without_an_upper_end_is_exported_as_a_lower_bound(tmp_path: Path) -> None:
    result = a_result()
    bounds = {"p50": (980.5, 1_020.25), "p99": (1_190.0, None)}
    latency = replace(result.clocks["latency"], intervals=bounds)
    run = RunFile(write_run(tmp_path / "run.sitebench", changed(result, latency=latency)))
    (row,) = read(run, "points")
    assert row["latency_us.intervals.p50"] == "980.5..1020.25"
    assert row["latency_us.intervals.p99"] == ">= 1190"
    (stored,) = run.points()
    assert stored.result is not None
    kept = json.loads(json.dumps(stored.result.to_json()))
    assert kept["latency_us"]["intervals"]["p99"] == [1_190.0, None]


def test_unknown_value_is_an_empty_field(run: RunFile) -> None:
    done, failed, _ = read(run, "points")
    assert done["lag_us.p99"] == ""
    assert failed["ops_per_s"] == ""


def test_exported_step_has_a_row_with_its_clocks(run: RunFile) -> None:
    (row,) = read(run, "steps")
    assert (row["step"], row["count"], row["service_us.n"]) == ("lookup", "20000", "20000")
    assert float(row["service_us.p99"]) == pytest.approx(50.0, rel=0.001)


def test_exported_drain_has_a_row_and_no_percentile_of_three_operations(run: RunFile) -> None:
    rows = read(run, "timeline")
    assert [row["step"] for row in rows] == ["lookup", "bind, simple"] * 3
    assert {row["latency_us.p50"] for row in rows} == {""}
    assert [row["latency_us.n"] for row in rows] == ["2", "2", "3", "3", "4", "4"]


def test_exported_monitor_reading_has_a_row(run: RunFile) -> None:
    rows = read(run, "samples")
    assert {row["who"] for row in rows} == {"generator", "machine"}
    assert all(float(row["value"]) >= 0 for row in rows)


def test_empty_run_exports_only_a_header(tmp_path: Path) -> None:
    RunStore(tmp_path / "empty").close()
    with RunFile(tmp_path / "empty") as run:
        assert [list(as_text(run, "csv", what)) for what in FORMATS["csv"]] == [[""]] * 5


def test_second_try_that_does_not_count_is_marked(tmp_path: Path) -> None:
    results = a_result(a_spec(), 20_000), a_result(a_spec(threads=2), 15_000)
    rows = read(RunFile(write_run(tmp_path / "run.sitebench", *results)), "points")
    assert [row["status"] for row in rows] == ["done", "not counted"]
