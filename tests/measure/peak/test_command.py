"""What `peak` refuses before anything is opened, and what it says of what it found."""

from dataclasses import replace
from typing import Any

import pytest

from sitebench.errors import BadInput
from sitebench.measure.objective import Objective
from sitebench.measure.options import PeakOptions
from sitebench.measure.peak.command import check_options
from sitebench.measure.peak.curve import knee, spots
from sitebench.measure.peak.search import Answer, Ceiling, HighestRate, Reply, SearchPlan
from sitebench.measure.peak.tables import clients_peak, rates_answer, usl_lines
from sitebench.measure.peak.usl import fit
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from tests.support.points import a_result, a_spec

P99 = Objective.parse("p99<5ms")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rate": 100.0}, "--rate fixes one; use `run --rate`"),
        ({"start": 100.0}, "--start needs --objective"),
        ({"users": 8}, "--users needs --objective"),
        ({"hold": 1.0}, "--hold needs --objective"),
        ({"holds": 1}, "--holds needs --objective"),
        ({"precision": 1.0}, "--precision needs --objective"),
        ({"foresee": (225,)}, "225 clients are too many for the fitted law"),
        ({"foresee": (9,), "clients": (1, 4)}, "largest measured load is 4,"),
        ({"objective": P99, "clients": (2,)}, "--clients measures given loads"),
        ({"objective": P99, "foresee": (2,)}, "--foresee needs a curve over clients"),
        ({"objective": P99, "repeats": 6}, "use --holds"),
        ({"objective": Objective.parse("rate>5k")}, "the search finds the rate"),
        ({"objective": Objective.parse("p99<1s,pages_per_s>5")}, "pages_per_s in the objective"),
    ],
)
def test_what_contradicts_itself_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_options(PeakOptions(**asked))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"clients": (2, 4), "foresee": (8,), "repeats": 6},
        {"objective": P99, "start": 5.0, "users": 8, "hold": 1.0, "holds": 1, "precision": 2.0},
    ],
)
def test_what_belongs_together_is_not_refused(asked: dict[str, Any]) -> None:
    check_options(PeakOptions(**asked))


def sweep(n: int = 1) -> list[PointResult]:
    """Return a made-up sweep: 8 clients fill the target, more only wait."""
    return [
        a_result(a_spec(users=users, repeat=repeat), 2_500 * min(users, 8) + repeat)
        for repeat in range(n)
        for users in (2, 4, 8, 16)
    ]


def test_a_sweep_over_clients_says_its_peak_in_a_sentence() -> None:
    found = series(sweep(6))
    peak = clients_peak(found, knee(spots(sweep(6), lambda spec: spec.users)), None)
    assert (peak.rate, peak.interval) == (10_001.25, (10_000.0, 10_002.5))
    assert (
        "at most 10,001/s, with 8 clients (median of 6, 95% interval 10,000..10,002)" in peak.said
    )
    assert "no knee up to 16 clients" not in peak.said


def test_what_is_not_the_targets_is_no_peak() -> None:
    spoilt = [
        replace(result, verdict=replace(result.verdict, valid=result.spec.users < 8))
        for result in sweep()
    ]
    peak = clients_peak(series(spoilt), None, None)
    assert peak.rate == 5_000.0
    assert "what 16 clients gave is not valid" in peak.said
    none = [replace(r, verdict=replace(r.verdict, valid=False)) for r in sweep()]
    assert clients_peak(series(none), None, None).rate is None
    assert "the peak is not known" in clients_peak(series(none), None, None).said


def test_the_law_is_said_with_its_goodness_of_fit_and_what_it_expects() -> None:
    law = fit([(n, 1_000 * n / (1 + 0.05 * (n - 1))) for n in (2, 4, 8, 14, 28)])
    first, second = usl_lines(law, (56,))
    assert "contention 5.00%" in first
    assert "R2 1.000, off by at most 0.0%" in first
    assert "with 56 clients it predicts 14,933/s" in second
    assert "four valid loads" in usl_lines(None, ())[0]


PLAN = SearchPlan(start=100, users=64, most_users=1024)


def said(rate: float | None, answer: Answer, *, sure: bool = True) -> str:
    ceiling = Ceiling(800, Reply(answer, 700, "p99 is 9 ms (asked: p99<5ms)"), sure=sure)
    return rates_answer(HighestRate(rate, ceiling, 64), a_spec(), P99, PLAN, 30.0)


def test_a_search_says_what_it_found_and_what_it_did_not() -> None:
    found = said(760, Answer.BROKE)
    assert "sustains 760/s with p99<5ms (held 3 times for 30s)" in found
    assert "at 800/s p99 is 9 ms (asked: p99<5ms): its limit lies between 760 and 800/s" in found
    assert "no rate from 6.25/s up holds p99<5ms" in said(None, Answer.BROKE)
    assert "the limit is not known" in said(760, Answer.BROKE, sure=False)


def test_the_testers_limit_is_never_said_to_be_the_targets() -> None:
    for rate in (None, 760.0):
        found = said(rate, Answer.TESTER)
        assert "limit lies between" not in found
        assert "known" in found
