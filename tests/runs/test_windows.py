"""Phases of a test: the measured window when users start and stop during the test."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.counts import source
from sitebench.counts.percentile_interval import Intervals
from sitebench.measure.summarise import summarise
from sitebench.monitor.monitor import Monitor
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.runs.timeline import slots
from sitebench.runs.windows import Phase, PointFile, Windows
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_result, a_spec, a_use

SECOND = 1_000_000_000


def lookups(n: int, at_s: int, lanes: int) -> source.Drain:
    step = Step("lookup", "lookup", n, service=histogram(*[50_000] * n))
    return Drain((at_s - 1) * SECOND, at_s * SECOND, (step,), lanes)


@contextmanager
def recording(path: Path, spec: PointSpec) -> Iterator[tuple[RunStore, int, Windows]]:
    """Yield a new run file, the number of its point, and the windows that are stored there."""
    with RunStore(path) as store:
        store.begin(spec)
        point = store.point_id(spec.key)
        windows = Windows(Monitor(None), PointFile(store, point))
        yield store, point, windows
        windows.close()


def test_restarted_window_turns_earlier_drains_into_ramp(tmp_path: Path) -> None:
    spec = a_spec(users=2)
    with recording(tmp_path / "run", spec) as (store, _, windows):
        windows.absorb(lookups(1, 1, 2))
        windows.enter_phase(lookups(10, 2, 2), Phase.MEASURE)
        windows.absorb(lookups(100, 3, 2))
        windows.enter_phase(lookups(1_000, 4, 5), Phase.MEASURE)
        windows.absorb(lookups(2_000, 5, 5))
        windows.enter_phase(lookups(3_000, 6, 5), Phase.AFTER)
        windows.absorb(lookups(4_000, 7, 0))
        assert windows.measured is not None
        assert windows.measured.seconds == 2.0
        now = a_spec(users=5)
        store.respecify(spec, now)
        windows.complete(a_result())
        store.confirm(now)
    with RunFile(tmp_path / "run") as run:
        (point,) = run.points()
        assert (point.spec, point.status) == (now, "done")
        counts = Counter[str]()
        for row in run.timeline(point.id):
            counts[row.phase] += row.count
        assert counts == {"ramp": 1_111, "measure": 5_000, "after": 4_000}
        for phase, count in counts.items():
            (step,) = run.steps(point.id, phase)
            assert step.count == count == step.clocks["latency"].count


@pytest.mark.parametrize("last", [0, 100])
def test_operations_that_end_late_are_in_the_last_half_second(tmp_path: Path, last: int) -> None:
    half = SECOND // 2
    due = Step("lookup", "lookup", 5, service=histogram(*[10 * SECOND] * 5))
    with recording(tmp_path / "run", a_spec(users=2)) as (store, point, windows):
        windows.enter_phase(lookups(10, 2, 2), Phase.MEASURE)
        step = Step("lookup", "lookup", 100, service=histogram(*[50_000] * 100))
        for n in range(4, 7):
            windows.absorb(Drain(n * half, (n + 1) * half, (step,)))
        windows.enter_phase(Drain(7 * half, 8 * half, (step,) * bool(last)), Phase.AFTER)
        for n in range(8, 27):
            windows.absorb(Drain(n * half, (n + 1) * half))
        windows.absorb(Drain(27 * half, 28 * half, late=(due,)))
        steps = {("lookup", "lookup")}
        latencies = store.latencies(point, Phase.MEASURE, steps)
        assert [latency.count for latency in latencies] == [100, 100, 100, last + 5]
    with RunFile(tmp_path / "run") as run:
        whole = slots(run.timeline(point), steps, 100)
    measured = [slot for slot in whole if slot.phase == "measured"]
    assert (measured[0].t0_ns, measured[-1].t1_ns) == (2 * SECOND, 4 * SECOND)
    assert sum(slot.count for slot in measured) == 305 + last
    assert whole[-1] is measured[-1]


def stored(
    path: Path, drains: Sequence[source.Drain], begins: int = 0
) -> tuple[PointResult, Intervals]:
    """Return the stored result of a point, and its intervals; `begins` is the drain before both."""
    spec, counts = a_spec(users=2), [("lookup", "lookup")]
    with recording(path, spec) as (store, _, windows):
        phases = {begins: Phase.MEASURE, len(drains) - 1: Phase.AFTER}
        for n, drain in enumerate(drains):
            if n in phases:
                windows.enter_phase(drain, phases[n])
            else:
                windows.absorb(drain)
        assert windows.measured is not None
        result = summarise(spec, windows.measured, counts, a_use(), target_cores=1, native=True)
        intervals = windows.intervals(set(counts))
        windows.complete(result)
        store.confirm(spec)
        (result,) = store.results()
    return result, intervals


def seconds(n: int, *steps: source.StepTotals) -> source.Drain:
    return Drain(n * SECOND, (n + 1) * SECOND, steps)


def test_interval_uses_the_half_seconds_of_the_window(tmp_path: Path) -> None:
    took, ramp = histogram(), histogram()
    took.record(1_000_000, 2_000)
    stall = took.copy()
    stall.record(20_000_000, 500)
    ramp.record(3_000_000, 2_000)
    other = Step("lookup", "bind", 9, service=histogram(10**9))
    services = [ramp] * 10 + [took] * 10 + [stall] + [took] * 9
    drains = [
        seconds(n, Step("lookup", "lookup", 2_000, service=service), other)
        for n, service in enumerate(services)
    ]
    latency = stored(tmp_path / "run", drains, begins=9)[0].clocks["latency"]
    assert latency.p99 is not None
    low, high = latency.intervals["p99"]
    assert (low, high) == pytest.approx((1_000, 20_000), rel=2e-3) or high is None
    assert latency.intervals["p50"] == pytest.approx((1_000, 1_000), rel=2e-3)


def test_interval_is_valid_with_abandoned_operations(tmp_path: Path) -> None:
    took = histogram(*(us * 1_000 for us in range(1_000, 6_000)))
    given_up = histogram(*[10 * SECOND] * 25)
    step = Step("lookup", "lookup", 5_000, service=took, censored=given_up)
    drains = [lookups(1, 1, 2), *(seconds(n, step) for n in range(1, 21))]
    result, intervals = stored(tmp_path / "run", drains)
    latency = result.clocks["latency"]
    assert latency.intervals == intervals.bounds
    assert "p99_9" in latency.at_least
    assert "p99_9" not in intervals.bounds
    for name, (low, high) in intervals.bounds.items():
        value = latency.percentiles[name]
        assert value is not None
        assert low <= value
        assert high is None or value <= high


def test_too_correlated_half_seconds_are_stored_with_the_required_window(tmp_path: Path) -> None:
    drains = [lookups(1, 1, 2)]
    for n in range(1, 21):
        slow = 2 if n > 10 else 1
        took = histogram(*(slow * us * 1_000 for us in range(1_000, 2_000)))
        drains.append(seconds(n, Step("lookup", "lookup", 1_000, service=took)))
    latency = stored(tmp_path / "run", drains)[0].clocks["latency"]
    assert not latency.intervals
    # Each drain is a second, so a window is twice as long as with as many half seconds.
    assert latency.too_alike["p50"] >= 60
    assert latency.too_alike["p50"] % 60 == 0


def test_observers_get_each_drain_with_its_phase() -> None:
    phases, samples = [], []
    monitor = Monitor(None)
    windows = Windows(
        monitor,
        on_drain=lambda phase, _: phases.append(phase),
        on_sample=lambda _, sample: samples.append(sample),
    )
    windows.absorb(lookups(1, 1, 2))
    windows.enter_phase(lookups(1, 2, 2), Phase.MEASURE)
    windows.absorb(lookups(1, 3, 2))
    monitor.close()
    assert phases == ["ramp", "ramp", "measure"]
    assert len(samples) >= 2


def test_operation_due_two_phases_ago_is_counted_in_that_phase(tmp_path: Path) -> None:
    """A request of the ramp that hung beyond a short warm-up was in no row of the run file."""
    hung = Step("lookup", "lookup", 1, {"timeout": 1}, 30, censored=histogram(10**9))
    drains = [Drain(n * SECOND, (n + 1) * SECOND) for n in range(3)]
    with recording(tmp_path / "run", a_spec()) as (_, point, windows):
        windows.absorb(drains[0])
        windows.enter_phase(drains[0], Phase.WARMUP)
        windows.enter_phase(drains[1], Phase.MEASURE)
        windows.absorb(replace(drains[2], older=(hung,)))
        windows.complete(a_result())
    assert windows.sent == 1
    with RunFile(tmp_path / "run") as run:
        counted = {phase: [row.count for row in run.steps(point, phase)] for phase in Phase}
        timeline = [(row.phase, row.t_ns, row.failures) for row in run.timeline(point)]
    assert counted == {"ramp": [1], "warmup": [], "measure": [], "after": []}
    assert timeline == [(Phase.RAMP, SECOND, 1)]
