import tracemalloc
from collections import Counter
from itertools import accumulate

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import Histogram
from sitebench.counts import source
from sitebench.counts.steady import Steadiness
from sitebench.counts.tally import MOST_STRETCHES, Tally
from sitebench.locust.workers.messages import pack, unpack
from tests.support.drains import Drain, Step, histogram

SECOND = 1_000_000_000
durations = st.lists(st.integers(min_value=0, max_value=3_600_000_000_000), max_size=50)


def drain(t0: int, t1: int, *steps: source.StepTotals, cpu: tuple[int, ...] = (0,)) -> source.Drain:
    return Drain(t0, t1, steps, cpu_ns=cpu)


def tally_of(*drains: source.Drain) -> Tally:
    tally = Tally()
    for each in drains:
        tally.add(each)
    return tally


def test_length_of_window_is_the_sum_of_its_drains() -> None:
    tally = Tally.starting(drain(0, 1_000_000_000))
    tally.add(drain(1_000_000_000, 3_500_000_000))
    assert tally.seconds == 2.5


def test_lane_time_is_the_sum_of_steps_waiting_and_outstanding_operations() -> None:
    tally = Tally.starting(Drain(0, SECOND, underway_ns=3 * SECOND))
    step = Step("p", "s", 1, service=histogram(SECOND), processing_ns=SECOND // 2)
    tally.add(
        Drain(SECOND, 6 * SECOND, (step,), 1, (0,), 5 * SECOND, 2 * SECOND, underway_ns=4 * SECOND)
    )
    assert tally.lane_s == 5
    # 1 s of service, half a second of processing, 2 s of waiting, and 1 s outstanding.
    assert tally.clock_s == pytest.approx(4.5, rel=1e-3)
    # The target's share is the time without processing and waiting.
    assert tally.target_s == pytest.approx(2.0, rel=1e-3)
    assert tally.waits
    assert not Tally(lane_ns=100, waiting_ns=1).waits
    assert Tally(lane_ns=100, waiting_ns=2).waits


def test_set_length_of_a_tally_overrides_the_sum_of_its_drains() -> None:
    assert Tally().seconds == 0
    tally = tally_of(drain(SECOND, 3 * SECOND), drain(3 * SECOND, 4 * SECOND))
    assert tally.seconds == 3
    tally.length_s = 2.5
    assert tally.seconds == 2.5


@pytest.mark.parametrize(
    ("is_open", "state"), [(True, Steadiness.UNSETTLED), (False, Steadiness.SETTLED)]
)
def test_falling_latency_unsettles_an_open_schedule_alone(is_open: bool, state: Steadiness) -> None:
    """On an open schedule the rate and the queue can be steady while the target warms up."""
    tally, key = Tally(), ("lookup", "lookup")
    for number in range(40):
        step = Step(*key, 50, latency=histogram(*[(400 - 9 * number) * 1_000_000] * 50))
        begin_ns = number * SECOND // 2
        tally.add(Drain(begin_ns, begin_ns + SECOND // 2, (step,), in_flight=4))
    assert tally.settle([key], is_open=is_open).state is state


def test_operations_due_before_the_window_count_only_in_rates() -> None:
    older = Step("p", "s", 3, service=histogram(1, 2, 3))
    found = Drain(SECOND, 2 * SECOND, older=(older,))
    tally = Tally.starting(Drain(0, SECOND))
    tally.add(found)
    tally.add_late(found.late)
    assert tally.steps["p", "s"].count == 3
    assert not tally.due


def test_tally_of_drains_has_the_sums_of_counts_failures_bytes_and_clocks() -> None:
    tally = Tally()
    for n in (1, 2, 3):
        step = Step("lookup", "lookup", n, {"timeout": n}, 10 * n, 20 * n, histogram(*[n] * n))
        tally.add(drain(n, n + 1, step))
    totals = tally.steps["lookup", "lookup"]
    assert (totals.count, totals.failures) == (6, Counter(timeout=6))
    assert (totals.counters["bytes_out"], totals.counters["bytes_in"]) == (60, 120)
    assert totals.clocks["service"] == histogram(1, 2, 2, 3, 3, 3)


def test_lane_counts_are_summed_by_index_although_lanes_start_and_end() -> None:
    counts: list[list[int]] = [[], [1], [2, 3], [0, 4, 5], [6, 0, 7]]
    tally = tally_of(*(Drain(0, 1, lane_counts=numbers) for numbers in counts))
    assert tally.lane_counts == [9, 7, 12]


def test_time_of_overlapping_steps_is_counted_once() -> None:
    second = histogram(10**9)
    steps = [Step("p", name, 1, service=second) for name in ("connect", "sequence")]
    tally = tally_of(drain(0, 1, *steps, Step("p", "request", 1, service=second, overlaps=True)))
    assert tally.clock_s == pytest.approx(1.0, rel=0.01)


def test_cpu_time_of_a_tally_is_that_of_its_window() -> None:
    tally = Tally.starting(drain(0, 10, cpu=(5_000_000_000, 1_000_000_000)))
    tally.add(drain(10, 20, cpu=(6_000_000_000, 1_500_000_000)))
    assert tally.thread_cpu_s == (1.0, 0.5)


def test_only_counted_steps_are_operations() -> None:
    tally = Tally()
    tally.add(
        drain(0, 1, Step("a", "connect", 4), Step("a", "lookup", 7), Step("b", "sequence", 2))
    )
    assert tally.merge_steps([("a", "lookup"), ("b", "sequence"), ("c", "add")]).count == 9
    assert tally.merge_steps([]).clocks["latency"] == Histogram()


def test_drain_counts_operations_of_its_own_steps() -> None:
    tally = Tally()
    tally.add(drain(0, 1, Step("a", "add", 4, {"timeout": 1}), Step("a", "bind", 9)))
    tally.add(drain(1, 2))
    tally.add(drain(2, 3, Step("b", "lookup", 7), Step("a", "add", 5)))
    tally.add(drain(3, 4, Step("b", "lookup", 1)))
    wanted = [("a", "add"), ("b", "lookup"), ("c", "never")]
    assert [done for _, done in tally.operations(wanted)] == [3, 0, 12, 1]


def test_drain_merges_latencies_of_its_own_steps() -> None:
    tally = Tally()
    lookup, add = Step("a", "add", 2, service=histogram(3, 4)), Step("b", "lookup", 1)
    lookup.clocks["latency"] = histogram(40)
    tally.add(drain(0, 1, Step("a", "add", 1, service=histogram(7)), Step("a", "bind", 9)))
    tally.add(drain(1, 2))
    late = Drain(2, 3, (lookup,), late=(Step("a", "add", 1, service=histogram(100)),), older=(add,))
    tally.add(late)
    assert tally.latencies_ns([("a", "add"), ("b", "lookup"), ("c", "never")]) == [7, 0, 140]


@pytest.mark.parametrize("drains", [MOST_STRETCHES - 1, 3 * MOST_STRETCHES + 1])
def test_long_window_is_stored_in_a_limited_number_of_stretches(drains: int) -> None:
    tally = Tally()
    for n in range(drains):
        late = [Step("a", "late", 2)] if n == drains - 3 else []
        early = [Step("a", "early", 7)] if n < 3 else []
        add = Step("a", "add", n, service=histogram(*[3] * n))
        tally.add(drain(n, n + 1 + (n == drains - 1), add, *early, *late))
    stretches = list(tally.operations([("a", "add")]))
    assert MOST_STRETCHES / 2 <= len(stretches) < MOST_STRETCHES
    ended = [round(at * 1e9) for at in accumulate(seconds for seconds, _ in stretches)]
    assert ended[-1] == drains + 1
    assert list(accumulate(done for _, done in stretches)) == [
        sum(range(min(at, drains))) for at in ended
    ]
    assert tally.latencies_ns([("a", "add")]) == [3 * done for _, done in stretches]
    for name, done in (("early", 21), ("late", 2)):
        assert sum(n for _, n in tally.operations([("a", name)])) == done
    assert tally.longest_drain_s == 2e-9


def test_hour_of_drains_takes_little_memory() -> None:
    tally = Tally()
    steps = [Step("program", f"step {n}", 1_000) for n in range(25)]
    tally.add(drain(0, 1, *steps))
    tracemalloc.start()
    try:
        for n in range(1, 721):
            tally.add(drain(n, n + 1, *steps))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The same amount again is reserved by arrays.
    assert kept < 2 * 720 * 8 * (2 * len(steps) + 1) + 50_000


@given(st.lists(durations, min_size=1, max_size=6))
def test_window_of_many_drains_equals_a_window_of_one_drain(drains: list[list[int]]) -> None:
    parts, whole = Tally(), Tally()
    for n, took in enumerate(drains):
        parts.add(drain(n, n + 1, clocked(took)))
    whole.add(drain(0, len(drains), clocked([ns for took in drains for ns in took])))
    assert parts.steps == whole.steps
    (one,) = whole.steps.values()
    (sum_,) = parts.steps.values()
    for name in ("service", "latency", "lag", "censored"):
        assert sum_.clocks[name].buckets() == one.clocks[name].buckets()


def clocked(took: list[int]) -> source.StepTotals:
    clock = histogram(*took)
    return Step(
        "p", "s", len(took), service=clock, lag=clock, censored=clock, processing_ns=sum(took)
    )


@given(st.lists(durations, min_size=1, max_size=4))
def test_tally_of_drains_from_another_process_equals_a_local_tally(drains: list[list[int]]) -> None:
    here, there = Tally(), Tally()
    for n, took in enumerate(drains):
        step = Step("p", "s", 7, {"timeout": n + 1}, 1, 2, histogram(*took), processing_ns=3)
        step.overlaps = n == 1
        made = Drain(n, n + 1, (step,), 5, (11, 12), 6, 7, 8, lane_counts=[n, 1])
        here.add(made)
        # Encoded as Locust's messages carry it.
        there.add(unpack(msgpack.loads(msgpack.dumps(pack(made, made.cpu_ns)))))
    assert there == here
