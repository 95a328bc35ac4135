"""The number of users that an objective allows, from measured numbers of users."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from sitebench.errors import MeasurementFailed, ObjectiveMissed, SitebenchError
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import Outcome
from sitebench.measure.peak.tables import clients_table
from sitebench.measure.peak.users import judge_users, users_answer
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.verdict.verdict import Bound
from tests.support.evidence import durations
from tests.support.points import a_result, a_spec

P95 = Objective.parse("p95<300ms")


def a_point(users: int, p95_ms: float, *, repeat: int = 0, valid: bool = True) -> PointResult:
    found = a_result(a_spec(users=users, repeat=repeat))
    verdict = replace(found.verdict, valid=valid)
    if not valid:
        verdict = replace(verdict, bound=Bound.OTHERS, evidence="others had the cores")
    latency = replace(durations(1_000.0), p95=p95_ms * 1e3)
    return replace(found, clocks={**found.clocks, "latency": latency}, verdict=verdict)


def answer(*points: PointResult) -> tuple[str, int | None, SitebenchError | None]:
    return users_answer("mine", judge_users(series(points), P95), P95)


def test_largest_number_of_users_that_holds_is_the_answer() -> None:
    said, users, error = answer(a_point(50, 80), a_point(100, 290), a_point(200, 810))
    assert (users, error) == (100, None)
    assert said == (
        "mine: up to 100 users hold p95<300ms; with 200, p95 is 810 ms (asked: p95<300ms)."
    )


def test_table_states_beside_the_limit_whether_the_objective_holds() -> None:
    points = series((a_point(50, 80), a_point(100, 90, valid=False)))
    table = clients_table(points, None, points[0].spec.key, judge_users(points, P95))
    assert table.columns[-3:] == ("bound by", "objective", "note")
    rows = [[getattr(cell, "text", cell) for cell in row[-2:]] for row in table.rows]
    assert rows == [["holds", "highest rate"], ["not known", ""]]


def test_answer_does_not_claim_a_limit_beyond_the_largest_number_of_users() -> None:
    said, users, error = answer(a_point(50, 80), a_point(100, 90))
    assert (users, error) == (100, None)
    assert said == "mine: up to 100 users hold p95<300ms, and no more were measured."
    said, users, error = answer(a_point(50, 80), a_point(100, 90, valid=False))
    assert (users, error) == (50, None)
    assert said == (
        "mine: up to 50 users hold p95<300ms; whether 100 do is not known: "
        "others: others had the cores."
    )


@pytest.mark.parametrize(
    ("points", "kind", "words"),
    [
        ([a_point(50, 400), a_point(100, 500)], ObjectiveMissed, "50 users do not hold p95<300ms"),
        ([a_point(50, 40, valid=False)], MeasurementFailed, "mine: how many users is not known"),
        # A larger number that passes: neither result is trusted.
        (
            [a_point(50, 80), a_point(100, 400), a_point(200, 90)],
            ObjectiveMissed,
            "200 users hold p95<300ms, and 100 do not: p95 is 400 ms",
        ),
    ],
)
def test_search_for_users_without_an_answer_is_an_error(
    points: Sequence[PointResult], kind: type[SitebenchError], words: str
) -> None:
    _, users, error = answer(*points)
    assert users is None
    assert isinstance(error, kind)
    assert words in error.message


def test_number_of_users_holds_only_if_every_repeat_holds() -> None:
    points = [a_point(50, p95, repeat=n) for n, p95 in enumerate((80, 400, 90))]
    (held,) = judge_users(series(points), P95)
    assert (held.spec.users, held.outcome) == (50, Outcome.MISSED)
    assert held.message == "in 1 of 3 repeats p95 is 400 ms (asked: p95<300ms)"
