import os

from hypothesis import given
from hypothesis import strategies as st

from sitebench.monitor.figures import FIGURES, describe, rates
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Changes, Row

SECOND = 10**9


def test_every_figure_of_the_run_file_has_a_description() -> None:
    rows = Monitor(os.getpid()).sample(thorough=True).rows()
    assert not {what for _, what, _ in rows if what.partition(".")[0] not in FIGURES}


def test_index_in_the_name_of_a_figure_is_shown_as_the_number_of_the_core() -> None:
    core = describe("core_busy_s.3")
    assert (core.title, core.unit, core.rate_unit) == ("Core 3", "s", "share")
    assert core.counter is True
    assert describe("available_bytes").counter is False


def test_target_figure_whose_name_ends_in_total_is_a_counter() -> None:
    assert describe("operations_completed_total").counter
    assert describe("operations_completed_total").title == "operations completed"
    assert not describe("connections").counter


def test_counter_is_shown_as_a_rate_and_gauge_unchanged() -> None:
    rows = [
        (0, 0, "target", "cpu_s", 10.0),
        (0, 0, "target", "resident_bytes", 100),
        (0, 2 * SECOND, "target", "cpu_s", 13.0),
        (0, 2 * SECOND, "target", "resident_bytes", 90),
    ]
    assert rates(rows) == {
        ("target", "cpu_s"): [(2 * SECOND, 1.5)],
        ("target", "resident_bytes"): [(0, 100), (2 * SECOND, 90)],
    }


def test_samples_less_than_100_ms_apart_have_no_separate_rate() -> None:
    rows = [
        (0, t_ns, "target", "cpu_s", cpu_s)
        for t_ns, cpu_s in ((0, 3.4), (SECOND // 2_000, 3.45), (SECOND, 3.9), (SECOND + 1, 4.0))
    ]
    [(t_ns, cores)] = rates(rows)["target", "cpu_s"]
    assert (t_ns, round(cores, 6)) == (SECOND, 0.5)


def test_omitted_unchanged_values_have_a_rate_of_zero() -> None:
    rows = [
        (0, 0, "machine", "available_bytes", 5),
        (0, 0, "machine", "retransmits", 7),
        (0, SECOND, "machine", "available_bytes", 5),
        (0, 2 * SECOND, "machine", "available_bytes", 5),
        (0, 2 * SECOND, "machine", "retransmits", 9),
    ]
    assert rates(rows)["machine", "retransmits"] == [(SECOND, 0.0), (2 * SECOND, 2.0)]


def test_growth_during_a_gap_is_spread_over_the_gap() -> None:
    rows = [
        (0, 0, "target-machine", "busy_s", 0.0),
        (0, SECOND, "machine", "busy_s", 1.0),
        (0, 4 * SECOND, "target-machine", "busy_s", 8.0),
    ]
    assert rates(rows)["target-machine", "busy_s"] == [(4 * SECOND, 2.0)]


def test_reset_counter_has_no_rate_at_the_reset() -> None:
    values = [5.0, 9.0, 1.0, 2.0]
    rows = [(0, n * SECOND, "target", "cpu_s", value) for n, value in enumerate(values)]
    assert rates(rows)["target", "cpu_s"] == [(SECOND, 4.0), (3 * SECOND, 1.0)]


VALUES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=6)


@given(VALUES)
def test_omission_of_unchanged_values_does_not_change_rates(seconds: list[tuple[int, ...]]) -> None:
    changes = Changes()
    whole: list[tuple[int, int, str, str, float]] = []
    short: list[tuple[int, int, str, str, float]] = []
    for n, values in enumerate(seconds):
        whats = ("available_bytes", "retransmits", "sockets.time_wait")
        rows: list[Row] = [
            ("machine", what, value) for what, value in zip(whats, values, strict=True)
        ]
        whole += [(0, n * SECOND, *row) for row in rows]
        short += [(0, n * SECOND, *row) for row in changes.changed_rows(rows)]
    assert rates(short) == rates(whole)
