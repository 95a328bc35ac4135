from collections.abc import Callable

import pytest

from benches.__main__ import ROWS
from benches.ratios import Outcome, Row, Series, Skipped, Trial, judge, run_trials, tables
from sitebench.errors import ProgramMissing
from tests.support.shown import shown

FAST = Row("fast", "ours", "floor", "ours.rate", "floor.rate", 0.95, at_least=0.85)
CHEAP = Row("cheap", "ours", "floor", "ours.cpu", "floor.cpu", 1.1, at_most=1.25)


@pytest.mark.parametrize(
    ("row", "values", "state"),
    [
        *((FAST, [0.96], "aim"), (FAST, [0.90], "pass"), (FAST, [0.84], "FAIL")),
        *((CHEAP, [1.0], "aim"), (CHEAP, [1.2], "pass"), (CHEAP, [1.3], "FAIL")),
        (FAST, [0.80, 0.84, 0.86], "unsure"),
        (FAST, [0.80, 0.82, 0.84], "FAIL"),
        (CHEAP, [1.20, 1.26, 1.40], "unsure"),
        (CHEAP, [1.26, 1.30, 1.40], "FAIL"),
        (FAST, [0.80, 0.90, 0.96], "pass"),
    ],
)
def test_row_is_compared_with_bound_and_aim_and_fails_only_if_every_repeat_fails(
    row: Row, values: list[float], state: str
) -> None:
    outcome = Outcome(row, values, [1.0] * len(values))
    assert (outcome.state, outcome.interval) == (state, (min(values), max(values)))


def test_interval_of_a_row_is_printed() -> None:
    outcome = Outcome(FAST, [80.0, 84.0, 86.0], [100.0] * 3)
    assert "0.8 to 0.86" in shown(tables([outcome], "Medians of 3"), width=120)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_each_row_has_one_bound_and_its_aim_satisfies_the_bound(row: Row) -> None:
    assert (row.at_least is None) != (row.at_most is None)
    assert row.passes(row.aim)


def test_trials_are_interleaved_and_their_ratios_taken_per_repeat() -> None:
    order = []

    def trial(name: str, *values: float) -> Trial:
        left = list(values)

        def once() -> dict[str, float]:
            order.append(name)
            return {"rate": left.pop(0)}

        return Trial(name, once)

    series = run_trials([trial("ours", 8, 100, 3), trial("floor", 10, 50, 10)], repeats=3)
    assert order == ["ours", "floor"] * 3
    assert judge([FAST], series)[0].ratio == pytest.approx(0.8)


def without_slapd() -> Skipped:
    raise ProgramMissing("slapd is missing", "")


@pytest.mark.parametrize(
    ("trial", "reason"),
    [(lambda: Skipped("needs 4 cores"), "needs 4 cores"), (without_slapd, "slapd is missing")],
)
def test_skipped_row_gives_its_reason_and_neither_passes_nor_fails(
    trial: Callable[[], Skipped], reason: str
) -> None:
    series = run_trials([Trial("ours", trial)], repeats=5)
    outcome = judge([FAST], series)[0]
    assert (outcome.state, outcome.reason) == ("n/a", reason)
    assert series == Series({}, {"ours": reason})
