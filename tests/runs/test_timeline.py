import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench._engine import Histogram
from sitebench.report.sections.spectrum import levels
from sitebench.report.sections.strips import thin
from sitebench.runs.runfile import TimelineRow
from sitebench.runs.timeline import PER_DECADE, cell_of, cells, seconds, slots

COUNTED = {("lookup", "lookup")}
HALF = 500_000_000


def row(n: int, phase: str, step: str = "lookup", *ns: int) -> TimelineRow:
    clock = Histogram()
    for value in ns:
        clock.record(value)
    count = len(ns)
    return TimelineRow(
        1, (n + 1) * HALF, phase, "lookup", step, 0.5, 4, count, 0, 0, 0, clock.to_bytes()
    )


def test_slots_contain_every_operation_and_merge_histograms_by_bucket() -> None:
    chance = random.Random(1997)
    rows = [
        row(n, "measure", "lookup", *chance.choices(range(10**4, 10**7), k=50)) for n in range(40)
    ]
    whole = Histogram()
    for each in rows:
        whole.add(Histogram.from_bytes(each.latency))
    found = slots(rows, COUNTED, 10)
    assert len(found) == 10
    assert sum(slot.count for slot in found) == 40 * 50
    merged = Histogram()
    for slot in found:
        merged.add(slot.latency)
    assert merged == whole
    assert found[3].latency.percentile(50.0) != found[4].latency.percentile(50.0)


def test_half_seconds_are_merged_to_seconds_within_a_phase() -> None:
    rows = [row(n, "warmup" if n < 3 else "measure", "lookup", 10_000) for n in range(8)]
    halves = slots(rows, COUNTED, 100)
    found = seconds(halves)
    assert [(slot.phase, slot.seconds, slot.count) for slot in found] == [
        *(("warm-up", 1.0, 2), ("warm-up", 0.5, 1)),
        *(("measured", 1.0, 2), ("measured", 1.0, 2), ("measured", 0.5, 1)),
    ]
    assert [(slot.seconds, slot.latency.count) for slot in halves] == [(0.5, 1)] * 8
    longer = slots(rows, COUNTED, 2)
    assert seconds(longer) == longer


def test_slots_are_contiguous_and_within_one_phase() -> None:
    rows = [row(n, "ramp" if n == 0 else "warmup" if n < 7 else "measure") for n in range(30)]
    found = slots(rows, COUNTED, 4)
    assert [slot.phase for slot in found].index("measured") == sum(
        slot.phase == "warm-up" for slot in found
    )
    assert found[-1].t1_ns == 30 * HALF
    for before, after in pairwise(found):
        assert before.t1_ns == after.t0_ns
    boundary = next(slot for slot in found if slot.phase == "measured")
    assert boundary.t0_ns == 7 * HALF


def test_uncounted_steps_are_in_no_slot() -> None:
    rows = [row(0, "measure", "bind", 10_000), row(0, "measure", "lookup", 20_000, 30_000)]
    (slot,) = slots(rows, COUNTED, 10)
    assert slot.count == slot.latency.count == 2


def test_stall_is_a_slot_without_operations() -> None:
    rows = [row(n, "measure", "lookup", *[10_000] * 50) for n in (0, 1, 2, 6, 7)]
    found = slots(rows, COUNTED, 100)
    assert [slot.count for slot in found] == [50, 50, 50, 0, 50, 50]
    assert (found[3].t0_ns, found[3].t1_ns) == (3 * HALF, 6 * HALF)
    assert found[3].ops_per_s == 0.0


def test_percentile_of_a_slot_needs_100_samples_beyond_it() -> None:
    (few,) = slots([row(0, "measure", "lookup", *[10_000] * 199)], COUNTED, 10)
    assert few.percentile(50.0) is None
    (enough,) = slots([row(0, "measure", "lookup", *[10_000] * 200)], COUNTED, 10)
    assert enough.percentile(50.0) == pytest.approx(10.0, rel=1e-3)


@given(st.lists(st.integers(1, 10**10), max_size=200))
def test_histogram_cells_count_every_sample_in_their_range(values: list[int]) -> None:
    clock = Histogram()
    for value in values:
        clock.record(value)
    found = cells(clock)
    assert sum(found.values()) == len(values)
    expected: dict[int, int] = {}
    for value, n in clock.buckets():
        expected[cell_of(value)] = expected.get(cell_of(value), 0) + n
    assert found == expected


@pytest.mark.parametrize("ns", [1, 999, 1_000, 123_456, 10**9])
def test_histogram_cell_is_a_twelfth_of_a_decade(ns: int) -> None:
    low = 10 ** (cell_of(ns) / PER_DECADE)
    assert low <= ns * (1 + 1e-9)
    assert ns < low * 10 ** (1 / PER_DECADE) * (1 + 1e-9)


def test_spectrum_ends_at_the_percentile_with_100_samples_beyond() -> None:
    clock = Histogram()
    for n in range(1, 50_001):
        clock.record(n * 1_000)
    found = levels(clock)
    furthest, value = found[-1]
    assert furthest == pytest.approx(500.0)
    assert value == pytest.approx(49_900, rel=2e-3)
    assert found[0][0] == 1.0
    few = Histogram()
    few.record(5_000, 99)
    assert levels(few) == []


def test_monitor_series_is_thinned_by_means_of_neighbours() -> None:
    lane = [(n, float(n % 2)) for n in range(1_000)]
    found = thin(lane, 100)
    assert len(found) == 100
    assert {value for _, value in found} == {0.5}
    assert thin(lane[:80], 100) == lane[:80]
