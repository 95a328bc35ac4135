"""Refusals of `peak` before the target is opened, and its printed answers."""

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from sitebench.counts.durations import Durations
from sitebench.errors import BadInput
from sitebench.measure.objective import Objective
from sitebench.measure.options import PeakOptions
from sitebench.measure.peak import command, tables
from sitebench.measure.peak.command import PeakJob, check_options
from sitebench.measure.peak.curve import knee, spots
from sitebench.measure.peak.search import Answer, Ceiling, HighestRate, Reply, SearchPlan, Trial
from sitebench.measure.progress import JsonLines
from sitebench.measure.test import Test
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.runs.store import RunStore
from sitebench.tables.table import Cell, Mark
from sitebench.verdict.verdict import Bound
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec, a_test, judged

P99 = Objective.parse("p99<5ms")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rate": 100.0}, "so it takes no --rate; use `run --rate`"),
        ({"start": 100.0}, "--start needs --objective"),
        ({"users": 8}, "--users needs --objective"),
        ({"apart": 1.0}, "--apart needs --objective"),
        ({"objective": P99, "clients": (2,), "start": 5.0}, "leave --clients out"),
        (
            {"objective": P99, "clients": (2, 4, 4)},
            "2,4,4: the numbers have to rise; write them as 2,4",
        ),
        ({"objective": P99, "clients": (4, 2)}, "4,2: the numbers have to rise; write them as 2,4"),
        ({"objective": P99, "repeats": 6}, "is held three times"),
        ({"objective": Objective.parse("rate>5k")}, "the search varies the rate"),
        (
            {"objective": Objective.parse("p99<1s,pages_per_s>5")},
            "pages_per_s cannot be in its objective",
        ),
    ],
)
def test_contradicting_options_of_peak_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as caught:
        check_options(PeakOptions(**asked))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"clients": (2, 4), "repeats": 6},
        {"objective": P99, "start": 5.0, "users": 8, "apart": 1.0},
        {"objective": P99, "clients": (2, 4), "repeats": 3},
    ],
)
def test_consistent_options_of_peak_are_accepted(asked: dict[str, Any]) -> None:
    check_options(PeakOptions(**asked))


def sweep(n: int = 1) -> list[PointResult]:
    """Return an invented sweep: 8 clients saturate the target, further clients only wait."""
    return [
        a_result(a_spec(users=users, repeat=repeat), 2_500 * min(users, 8) + repeat)
        for repeat in range(n)
        for users in (2, 4, 8, 16)
    ]


def test_sweep_over_clients_prints_its_peak_in_a_sentence() -> None:
    found = series(sweep(6))
    peak = tables.clients_peak(found, knee(spots(sweep(6), lambda spec: spec.users)))
    assert (peak.rate, peak.interval) == (10_001.25, (10_000.0, 10_002.5))
    assert (
        "highest measured 10,001/s, with 8 clients (median of 6, 95% interval 10,000..10,002)"
        in peak.said
    )
    assert "no knee up to 16 clients" not in peak.said


def bounded_sweep(bound: Bound, least_users: int = 8) -> list[PointResult]:
    """Return the sweep with this bound of all points with many clients."""
    return [
        result if result.spec.users < least_users else with_bound(result, bound)
        for result in sweep()
    ]


def test_invalid_point_is_not_a_peak() -> None:
    peak = tables.clients_peak(series(bounded_sweep(Bound.UNSETTLED)), None)
    assert peak.rate == 5_000.0
    assert "the point with 16 clients is not usable" in peak.said
    none = [judged(r, valid=False) for r in sweep()]
    assert tables.clients_peak(series(none), None).rate is None
    assert "the peak is not known" in tables.clients_peak(series(none), None).said


def test_point_with_many_failures_is_not_a_peak_and_its_share_is_printed() -> None:
    found = [
        structs.replace(result, failures_by_kind={"timeout": lost} if lost else {})
        for result, lost in zip(sweep(), (0, 10, 800, 800), strict=True)
    ]
    curve = spots(found, lambda spec: spec.users)
    assert [each.valid for each in curve] == [True, True, False, False]
    peak = tables.clients_peak(series(found), knee(curve))
    # 10 of 10,000 are few enough.
    assert (peak.rate, peak.best) == (5_000.0, found[1].spec.key)
    assert "the point with 16 clients is not usable" in peak.said
    table = tables.clients_table(series(found), None, peak.best, ())
    marks = {row[0]: row[-1] for row in table.rows}
    assert marks["4"] == "highest rate"
    assert marks["8"] == marks["16"] == "3.8% failed"


def test_peak_beside_other_programs_is_a_lower_bound() -> None:
    said = tables.clients_peak(series(bounded_sweep(Bound.OTHERS, 0)), None).said
    assert said.endswith("at least 10,000/s, with 8 clients; other programs had the cores.")


def test_rate_limited_by_the_generator_is_a_lower_bound_of_the_peak() -> None:
    peak = tables.clients_peak(series(bounded_sweep(Bound.GENERATOR)), None)
    assert peak.rate == 20_000.0 / 2
    assert (
        peak.said
        == "lookup at 1k: at least 10,000/s, with 8 clients; the load generator was the limit."
    )


def with_bound(result: PointResult, bound: Bound) -> PointResult:
    return judged(result, bound=bound, valid=False)


PLAN = SearchPlan(start=100, users=64, most_users=1024)


def said(rate: float | None, answer: Answer, *above: Answer) -> str:
    """Return the answer of a search: 760/s was held three times, and 800/s gave these answers."""
    ceiling = Ceiling(800, Reply(answer, 700, "p99 is 9 ms (asked: p99<5ms)"), sure=True)
    found = HighestRate(rate, ceiling, 64)
    held = [(760.0, Answer.HELD, n) for n in range(3)]
    probes = [
        tables.Probe(Trial(at, 64, True, n), a_spec(), None, Reply(each, at, ""))
        for at, each, n in [*held, *((800.0, each, n) for n, each in enumerate(above))]
    ]
    return tables.rates_answer(
        found, a_spec(), P99, PLAN, 30.0, saw=tables.see_limit(found, probes)
    )


def test_answer_of_a_search_says_how_often_the_rates_held_or_broke() -> None:
    found = said(760, Answer.BROKE, Answer.BROKE, Answer.BROKE)
    assert "sustains 760/s with p99<5ms: held 3 of 3 times for 30s" in found
    assert "broke 2 of 2 times at 800/s (p99 is 9 ms (asked: p99<5ms))" in found
    assert "no rate from 6.25/s up holds p99<5ms" in said(None, Answer.BROKE)
    busy = said(None, Answer.BUSY)
    assert "limit is not known, this machine was busy with other programs: at 800/s" in busy
    assert "limit lies above and is not known: at 800/s" in said(760, Answer.BUSY)
    assert "broke 1 of 2 times at 800/s" in said(760, Answer.BROKE, Answer.BROKE, Answer.HELD)


def test_misses_for_lack_of_lanes_or_cores_do_not_count_as_broken() -> None:
    ceiling = Ceiling(800, Reply(Answer.BROKE, 700, "p99 is 9 ms"), sure=True)
    probes = [
        tables.Probe(Trial(rate, users, True, 0), a_spec(), None, Reply(answer, rate, "", crowded))
        for rate, users, answer, crowded in (
            (760.0, 32, Answer.BROKE, True),
            (760.0, 64, Answer.BUSY, False),
            (760.0, 64, Answer.HELD, False),
            (800.0, 64, Answer.BUSY, False),
            (800.0, 64, Answer.BROKE, True),
            (800.0, 128, Answer.BROKE, False),
        )
    ]
    saw = tables.see_limit(HighestRate(760, ceiling, 64), probes)
    assert saw == tables.Seen(held=1, held_of=1, broke_at=800, broke=2, broke_of=2)


def test_answer_of_a_search_says_how_much_time_lay_between_repeats() -> None:
    found = HighestRate(760, None, 64)
    answer = tables.rates_answer(found, a_spec(), P99, replace(PLAN, apart_s=600), 30.0, saw=None)
    assert "held 3 of 3 times for 30s, 10m apart" in answer


def test_rate_broken_without_confirmation_is_no_end_of_an_interval() -> None:
    for above in ((Answer.BROKE,), (Answer.BROKE, Answer.HELD)):
        assert "between" not in said(760, Answer.BROKE, *above)


def test_limit_of_the_generator_is_never_reported_as_that_of_the_target() -> None:
    for rate in (None, 760.0):
        found = said(rate, Answer.TESTER, Answer.BROKE, Answer.TESTER)
        assert "broke" not in found
        assert "known" in found


def test_best_rate_of_a_search_has_a_separate_mark() -> None:
    found = changed(a_result(a_spec(rate=10_000)), latency=Durations(p50=50.0, p99=90.0, n=20_000))
    tried = [
        tables.Probe(Trial(rate, 64, True, 0), a_spec(rate=rate), each, Reply(answer, rate, ""))
        for rate, each, answer in (
            (10_000.0, found, Answer.HELD),
            (20_000.0, judged(found, bound=Bound.GENERATOR, valid=False), Answer.TESTER),
        )
    ]
    held, tester = tables.rates_table(tried, 10_000.0).rows
    assert held[-1] == Cell("held, best", Mark.PASS)
    assert "90 us" in held
    assert "90 us *" in tester


# A search waits only between the holds of a rate.

LIMIT = 700


class Clock:
    """A clock that advances only during waits and measurements."""

    def __init__(self) -> None:
        self.now, self.held = 0.0, list[tuple[float, float, float]]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def measure(self, test: Test, *_: Any) -> PointResult:
        """Advance by the window, and complete arrivals up to the limit."""
        spec = test.spec
        assert spec.rate is not None
        began, self.now = self.now, self.now + spec.measure_s
        self.held.append((spec.rate, began, self.now))
        return replace(a_result(spec, round(2 * min(spec.rate, LIMIT))), queue_start=None)


@contextlib.contextmanager
def nothing_opened(*_: Any) -> Iterator[None]:
    yield


def test_rate_is_repeated_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(command, "time", clock)
    monkeypatch.setattr(command, "measure_point", clock.measure)
    monkeypatch.setattr(command, "open_stage", nothing_opened)

    def test(users: int, rate: float | None, measure_s: float) -> Test:
        return a_test(a_spec(rate=rate, users=users, measure_s=measure_s))

    with RunStore(tmp_path / "run") as store:
        options = PeakOptions(objective=Objective.parse("mean<5ms"), apart=60.0, start=100.0)
        stage: Any = None
        job = PeakJob(lambda seeding: stage, test, dict, 2.0, "out")
        search = command._PeakSearch(options, job, stage, store, JsonLines())
        peak, _, error = search.to_objective(options.objective or P99, 1024)
    assert error is None
    long = [(began, ended) for rate, began, ended in clock.held if rate == peak.rate]
    apart = [began - ended for (_, ended), (began, _) in pairwise(long[1:])]
    assert len(long) == 4
    assert apart == pytest.approx([60, 60])
    assert clock.now == pytest.approx(120 + sum(ended - began for _, began, ended in clock.held))
