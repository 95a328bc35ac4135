"""The planner with web workloads: the formulas of 1996 and 1997, from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import in_process
from tests.web_bench.made import a_sweep
from tests.web_bench.test_report import write


def planned(*argv: str) -> dict[str, Any]:
    ran = in_process("plan", "web", *argv, "--json").check(0)
    found: dict[str, Any] = json.loads(ran.out)
    return found


def calculation(*argv: str, n: int = -1) -> dict[str, Any]:
    """Return one of the other laws of a plan, by default the last."""
    law: dict[str, Any] = planned(*argv)["calculations"][n]
    return law


def test_worked_example_of_1997_agrees_with_its_printed_result() -> None:
    ran = in_process("plan", "web").check(0)
    words = " ".join(ran.out.split())
    assert "near 16,000 / 16,000 15,960 / 15,960" in words
    assert "They agree." in words


def test_number_of_users_is_the_rate_divided_by_a_users_requests() -> None:
    typed = ("--rates", "webbench1-static=1330", "--mix", "webbench1-static=10")
    assert planned(*typed)["answers"]["simultaneous"] == 7_980
    # As in the paper: 2,400 requests in 8 hours.
    whole_day = planned("--session", "8h", "--mix", "webbench1-static=2400")
    assert whole_day["answers"]["simultaneous"] == 15_960


def test_cost_of_a_mix_is_the_sum_of_the_costs_of_its_workloads() -> None:
    rates = ("--rates", "spice-static=1153,spice-inprocess=307")
    found = planned(*rates, "--mix", "spice-static=4.05,spice-inprocess=0.95")
    rate = 1 / (0.81 / 1_153 + 0.19 / 307)
    assert found["values"]["simultaneous"] == pytest.approx(12 * rate)


def test_run_provides_the_rate_of_each_workload_at_its_peak(tmp_path: Path) -> None:
    results = [
        *a_sweep("webbench1-static", {12: 1_000, 96: 2_000, 240: 1_800}),
        *a_sweep("webbench1-light", {12: 500}),
    ]
    run = write(tmp_path / "web.sitebench", results)
    found = planned(str(run), "--cgi-share", "50%")
    assert found["machine"] == "nginx"
    assert found["answers"]["simultaneous"] == 24_000
    _, mix = found["calculations"]
    program_s = (1 / 500 - 0.9 / 2_000) / 0.1
    assert mix["values"]["predicted_per_s"] == pytest.approx(2 / (1 / 2_000 + program_s))


def test_run_without_the_planned_workload_names_its_workloads(tmp_path: Path) -> None:
    run = write(tmp_path / "web.sitebench", a_sweep("spice-cgi", {8: 450}))
    ran = in_process("plan", "web", str(run)).check(2, "no rate for webbench1-static")
    assert "there are rates for spice-cgi" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("k", "part", "per_s"),
    [("bits", "100%", 2_048), ("bits", "75%", 1_536), ("bytes", "100%", 256)],
)
def test_network_line_carries_the_rate_printed_in_1996(k: str, part: str, per_s: float) -> None:
    line = calculation("--line", str(100 * 2**20), "--line-efficiency", part, "--k", k)
    assert line["values"]["carried_per_s"] == pytest.approx(per_s)


@pytest.mark.parametrize(("part", "per_s"), [("100%", 2_048), ("75%", 1_536)])
def test_network_line_in_decimal_units_shows_the_printed_rate_beside_it(
    part: str, per_s: float
) -> None:
    line = calculation("--line", "100m", "--line-efficiency", part, "--k", "bits")["values"]
    assert line["carried_per_s"] == pytest.approx(per_s * 10**6 / 2**20)
    assert line["printed_per_s"] == pytest.approx(per_s)


def test_response_time_is_the_sum_of_spice_latency_and_application_time() -> None:
    response = calculation("--application", "50ms", "--spice-latency", "10ms")
    assert response["title"] == "Response time of a lightly loaded server"
    assert response["values"]["response_s"] == pytest.approx(0.060)


def test_rates_that_imply_a_negative_cost_predict_no_mix() -> None:
    """The plan had -2,000 requests a second for nine programs in ten."""
    rates = ("--rates", "webbench1-static=1000,webbench1-light=1200")
    model = calculation(*rates)
    assert model["title"].startswith("Cost model")
    assert "predicted_per_s" not in model["values"]
    ran = in_process("plan", "web", *rates)
    assert "need a request of negative cost" in " ".join(ran.out.split())


def test_users_of_a_network_line_follow_from_their_requests() -> None:
    """2,400 requests in 8 hours are five a minute."""
    mix = ("--session", "8h", "--mix", "webbench1-static=2400")
    line = calculation(*mix, "--line", "100m", n=0)["values"]
    assert (line["line_bits_per_s"], line["per_minute"]) == (100e6, pytest.approx(5))
    assert line["carried_per_s"] == pytest.approx(100e6 * 0.75 / (50 * 8_192))
    assert line["users_of_line"] == pytest.approx(12 * line["carried_per_s"])


def test_defaults_of_the_web_plan_are_those_of_the_paper() -> None:
    """A SPICE latency of 18.1 ms (Table 3 of 2000), and the heavy mix of 1997."""
    rates = ("--rates", "webbench1-static=1401,webbench1-light=344")
    _, response, mix = planned(*rates, "--application", "5ms")["calculations"]
    assert response["values"]["response_s"] == pytest.approx(0.0231)
    assert mix["values"]["predicted_per_s"] == pytest.approx(48.9, abs=0.05)
    assert mix["values"]["file_s"] == pytest.approx(1 / 1_401)
