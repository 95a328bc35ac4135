"""The live display of a test, from invented drains and samples."""

import pytest
from msgspec.structs import replace

from sitebench.counts import source
from sitebench.locust.web_ui.live import LiveView
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import CoreSample, MachineSample, ProcessSample, Sample
from sitebench.runs.windows import Phase, Windows
from tests.support.drains import Drain, Step, histogram

SECOND = 1_000_000_000
COUNTS = [("lookup", "lookup")]


def lookups(n: int, at_s: float, *, failed: int = 0, us: int = 50) -> source.Drain:
    step = Step(
        "lookup",
        "lookup",
        n,
        {"timeout": failed} if failed else {},
        10 * n,
        100 * n,
        histogram(*[us * 1_000] * (n - failed)),
    )
    end = round(at_s * SECOND)
    return Drain(end - SECOND // 2, end, (step,), lanes=8)


@pytest.fixture
def live() -> LiveView:
    return LiveView(COUNTS)


def test_live_view_has_rates_of_counted_steps_and_bytes_of_all_steps(live: LiveView) -> None:
    live.add_drain(Phase.MEASURE, lookups(500, 0.5, failed=20))
    (moment,) = live.moments
    assert (moment.per_s, moment.failed_per_s, moment.lanes) == (960, 40, 8)
    assert (moment.bytes_in_per_s, moment.bytes_out_per_s) == (100_000, 10_000)
    assert moment.p50_us == pytest.approx(50, rel=0.01)


def test_percentiles_cover_five_seconds_and_need_enough_samples(live: LiveView) -> None:
    for n in range(40):
        live.add_drain(Phase.MEASURE, lookups(30, 0.5 * n, us=10 if n < 20 else 90))
    assert live.moments[5].p50_us is None
    assert live.moments[18].p50_us == pytest.approx(10, rel=0.01)
    assert live.moments[39].p50_us == pytest.approx(90, rel=0.01)


def test_unanswered_operation_counts_with_its_waiting_time(live: LiveView) -> None:
    answered, waited = histogram(*[50_000] * 150), histogram(*[SECOND] * 150)
    step = Step("lookup", "lookup", 300, {"timeout": 150}, service=answered, censored=waited)
    drain = Drain(0, SECOND, (step,), lanes=8)
    live.windows = Windows(Monitor(None), on_drain=live.add_drain)
    live.windows.enter_phase(replace(drain, steps=()), Phase.MEASURE)
    live.windows.absorb(drain)
    live.windows.close()
    (row,) = live.steps()
    assert row["max"] == pytest.approx(1e6, rel=0.01)
    assert row["mean"] == pytest.approx(500_025, rel=0.01)
    assert row["p90"] is None
    assert row["at_least"] == ["max", "mean"]
    assert live.moments[-1].max_us == pytest.approx(1e6, rel=0.01)


def test_operation_of_several_steps_has_rate_and_latency() -> None:
    took = [histogram(*[us * 1_000] * 200) for us in (10, 20, 30)]
    names = ("get item", "add to basket", source.SEQUENCE)
    steps = [
        Step("buy", name, 200, {}, 10, 100, times) for name, times in zip(names, took, strict=True)
    ]
    live = LiveView([("buy", source.SEQUENCE)])
    live.add_drain(Phase.MEASURE, Drain(0, SECOND // 2, steps, lanes=8))
    (moment,) = live.moments
    assert (moment.per_s, moment.failed_per_s, moment.bytes_in_per_s) == (400, 0, 400)
    assert moment.p50_us == pytest.approx(30, rel=0.01)
    assert moment.max_us == pytest.approx(30, rel=0.01)


def test_drain_too_short_for_a_rate_adds_no_point_to_the_live_view(live: LiveView) -> None:
    live.add_drain(Phase.RAMP, Drain(0, SECOND // 1_000, lanes=3))
    assert not live.moments


def a_sample(cpu_s: float, *, target: bool = True) -> Sample:
    process = ProcessSample(cpu_s, 0.0, 50_000_000)
    return Sample(process if target else None, process, MachineSample(cpu_s, (), 4_000_000_000))


def test_resources_are_rates_of_counters_and_values_of_gauges(live: LiveView) -> None:
    live.add_sample(0, a_sample(1.0))
    live.add_sample(2 * SECOND, a_sample(2.5))
    (load,) = live.loads
    assert (load.target_cores, load.generator_cores) == (0.75, 0.75)
    rows = {(row.who, row.what): row.now for row in live.resources}
    assert rows["target", "CPU"] == "0.75 cores"
    assert rows["load generator", "Resident memory"] == "50 MB"
    assert rows["machine", "Available memory"] == "4 GB"


def test_used_cores_are_never_negative(live: LiveView) -> None:
    live.add_sample(0, a_sample(2.0))
    live.add_sample(SECOND, a_sample(1.5))
    (load,) = live.loads
    assert (load.target_cores, load.generator_cores) == (0.0, 0.0)
    assert {row.now for row in live.resources if row.what == "CPU"} == {"0.00 cores"}


def test_resources_of_a_remote_target_are_absent_and_not_zero(live: LiveView) -> None:
    live.add_sample(0, a_sample(1.0, target=False))
    live.add_sample(SECOND, a_sample(2.0, target=False))
    assert live.loads[0].target_cores is None
    assert "target" not in {row.who for row in live.resources}


def test_decreasing_stolen_time_does_not_make_cpu_use_negative(live: LiveView) -> None:
    for at_s, stolen_s in enumerate((9.0, 1.0, 1.5)):
        core = CoreSample(0.0, 0.0, 0.0, 0.0, stolen_s, 0.0)
        sample = replace(a_sample(1.0), machine=MachineSample(at_s, (core,), 4_000_000_000))
        live.add_sample(at_s * SECOND, sample)
    assert [load.busy_cores for load in live.loads] == [0.0, 0.5]


def test_displayed_core_is_at_most_fully_busy(live: LiveView) -> None:
    """The kernel counts ticks, another clock counts seconds: here each second has 20 ms more."""
    for at_s in (0, 1):
        core = CoreSample(1.02 * at_s, 0.0, 0.0, 0.0, 0.0, 0.0)
        machine = MachineSample(at_s, (core, core), 4_000_000_000)
        sample = replace(a_sample(1.0), machine=machine, target_machine=machine)
        live.add_sample(at_s * SECOND, sample)
    rows = {(row.who, row.what): row.now for row in live.resources}
    assert rows["machine", "Core 0"] == rows["machine", "Core 1"] == "1.00 share"
    assert rows["machine", "Busy cores"] == "2.00 cores"
    assert rows["target-machine", "Busy cores"] == "2.00 cores"
