"""Ratios of two sides that are measured in turns."""

import json
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benches import pairs
from benches.ratios import Outcome, Row, mean_ratio, student_t
from benches.sides import Slice
from sitebench.errors import BadInput
from sitebench.system.machine import cpu_ns
from tests.support.programs import run_program
from tests.support.shown import shown

FAST = Row("fast", "ours", "floor", "ours.rate", "floor.rate", 0.95, at_least=0.85)
# 97.5 % quantiles of Student's t: Abramowitz and Stegun, table 26.10.
QUANTILES = {6: 2.447, 13: 2.160, 30: 2.042, 120: 1.980}


@pytest.mark.parametrize("freedom", QUANTILES)
def test_student_t_quantiles_match_printed_tables(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(QUANTILES[freedom], rel=0.002)


def test_interval_of_pairs_contains_the_true_ratio_in_95_of_100_runs() -> None:
    draw = random.Random(7)
    held = 0
    for _ in range(1_000):
        low, high = mean_ratio([0.9 * math.exp(draw.gauss(0, 0.1)) for _ in range(14)])[1:]
        held += low <= 0.9 <= high
    assert 930 <= held <= 970


@pytest.mark.parametrize(
    ("ratios", "state"),
    [
        ([0.80, 0.81, 0.82, 0.80, 0.81, 0.82, 0.80], "FAIL"),
        ([0.70, 0.99, 0.80, 0.95, 0.75, 0.90, 0.85], "unsure"),
        ([0.90, 0.91, 0.92, 0.90, 0.91, 0.92, 0.90], "pass"),
        ([0.96, 0.97, 0.98, 0.96, 0.97, 0.98, 0.96], "aim"),
    ],
)
def test_row_of_pairs_passes_or_fails_by_its_interval(ratios: list[float], state: str) -> None:
    assert Outcome(FAST, ratios, [1.0] * len(ratios), paired=True).state == state


def test_sides_alternate_in_random_blocks_and_lead_equally_often() -> None:
    order = pairs.order_of(14)
    assert len(order) == 28
    blocks = {tuple(order[start : start + 4]) for start in range(0, 28, 4)}
    assert blocks == {(True, False, False, True), (False, True, True, False)}


def test_drift_of_the_machine_does_not_change_a_ratio() -> None:
    """A machine that slows down by half within the run slows both sides of each pair."""
    clock = iter(range(1_000))

    def side(rate: float) -> Slice:
        return {"rate": rate * (1 - next(clock) / 56)}

    slices = pairs.measure_in_turns(lambda: side(90.0), lambda: side(100.0), 14)
    assert mean_ratio(slices.ratios("rate"))[0] == pytest.approx(0.9, rel=0.005)


def test_stopped_side_uses_no_cpu_until_its_slice() -> None:
    with pairs.stopped_side("lookup") as measure:
        (pid,) = (process for process in _children() if "benches.sides" in process[1])
        slices = [measure() for _ in range(2)]
        time.sleep(0.1)  # the kernel stops its threads one after another
        before = cpu_ns(pid[0])
        time.sleep(0.3)
        assert cpu_ns(pid[0]) == before
    for values in slices:
        assert values["rate"] > 100
        assert values["client_us"] > 0.1
        assert values["server_us"] > 0.1
        assert 0 < values["p50_us"] <= values["p99_us"]


def test_table_shows_the_ratio_of_each_figure_that_both_sides_have() -> None:
    slices = pairs.Pairs([{"rate": 80.0, "p50_us": 2.0}] * 7, [{"rate": 100.0}] * 7)
    table = shown([pairs.figures_table({"lookup / floor": slices}, 7)], width=140)
    assert "0.800 [0.800, 0.800]" in table
    assert "lookup / floor" in table


def test_row_of_a_missing_program_names_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    row = Row("page", "pages", "nginx", "page-nginx.rate", "page-wrk.rate", 0.9, at_least=0.5)
    (outcome,), measured = pairs.measure_rows([row], 7, lambda text: None)
    assert (outcome.state, measured) == ("n/a", {})
    assert "wrk" in outcome.reason


def test_folder_without_sides_is_refused_with_the_command_for_sides(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no checkout") as raised:
        pairs.measure_against(tmp_path, pairs.ROWS, 7, lambda text: None)
    assert "git worktree add" in raised.value.remedy


def test_comparison_of_builds_is_refused_if_no_row_measures_this_build() -> None:
    with pytest.raises(BadInput, match="no side of this build") as raised:
        pairs.measure_against(Path(__file__).parents[2], [], 7, lambda text: None)
    assert "lookup" in raised.value.remedy


def test_bench_of_one_row_prints_json_with_its_slices() -> None:
    command = [sys.executable, "-m", "benches", "--rows", "cpu", "--pairs", "7", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(ran.stdout)
    (row,) = document["rows"]
    assert row["row"] == "cpu"
    assert row["interval"][0] < row["ratio"] < row["interval"][1]
    assert {key: len(side) for key, side in document["slices"]["lookup / floor"].items()} == {
        "first": 7,
        "second": 7,
    }


def _children() -> list[tuple[int, str]]:
    listed = run_program(["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="], check=True)
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    return [(int(pid), command) for pid, command in lines]
