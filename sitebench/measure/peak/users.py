"""The largest measured number of users that meets an objective."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from sitebench.errors import MeasurementFailed, ObjectiveMissed, SitebenchError
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import Judged, Outcome, judge_result
from sitebench.runs.repeats import Series

_MEASURE_AGAIN = "measure longer (--measure) or more often (--repeats), on an idle machine"


def judge_users(points: Sequence[Series], objective: Objective) -> list[Judged]:
    """Judge the numbers of users, lowest first; the objective has to hold in all repeats."""
    numbers = []
    for point in sorted(points, key=lambda point: point.spec.users):
        judged = [judge_result(result, objective) for result in point.results]
        for outcome in (Outcome.MISSED, Outcome.FAILED, Outcome.INVALID, Outcome.UNKNOWN):
            if those := [result for result in judged if result.outcome is outcome]:
                often = f"in {len(those)} of {len(judged)} repeats " * (len(judged) > 1)
                numbers.append(replace(those[0], message=often + those[0].message))
                break
        else:
            numbers.append(judged[0])
    return numbers


def users_answer(
    name: str, numbers: Sequence[Judged], objective: Objective
) -> tuple[str, int | None, SitebenchError | None]:
    missed = [number for number in numbers if number.outcome == Outcome.MISSED]
    holds = [number for number in numbers if number.outcome == Outcome.PASSED]
    error: SitebenchError
    if missed and holds and holds[-1].spec.users > missed[0].spec.users:
        message = (
            f"{name}: {holds[-1].spec.users:,} users hold {objective}, and "
            f"{missed[0].spec.users:,} do not: {missed[0].message}"
        )
        error = ObjectiveMissed(message, _MEASURE_AGAIN)
    elif not holds and numbers[0] in missed:
        message = (
            f"{name}: {numbers[0].spec.users:,} users do not hold {objective}: {numbers[0].message}"
        )
        error = ObjectiveMissed(message, "begin --clients lower, or relax the objective")
    elif not holds:
        message = f"{name}: how many users is not known: {numbers[0].message}"
        error = MeasurementFailed(message, _MEASURE_AGAIN)
    else:
        best = holds[-1].spec.users
        message = f"{name}: up to {best:,} users hold {objective}"
        above = next((number for number in numbers if number.spec.users > best), None)
        if above is None:
            message += ", and no more were measured."
        elif above in missed:
            message += f"; with {above.spec.users:,}, {above.message}."
        else:
            message += f"; whether {above.spec.users:,} do is not known: {above.message}."
        return message, best, None
    return message, None, error
