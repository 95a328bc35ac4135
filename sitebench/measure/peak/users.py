"""How many users an objective allows: the largest measured number that meets it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sitebench.errors import MeasurementFailed, ObjectiveMissed, SitebenchError
from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import Outcome, judge_result
from sitebench.runs.repeats import Series

_MEASURE_AGAIN = "measure longer (--measure) or more often (--repeats), on an idle machine"


class Held(msgspec.Struct, frozen=True):
    """A number of users, whether the objective holds with it, and the values that say so."""

    users: int
    outcome: str
    message: str


def judge_users(points: Sequence[Series], objective: Objective) -> list[Held]:
    """Judge each number of users, lowest first: it holds if it does in every repeat."""
    found = []
    for point in sorted(points, key=lambda point: point.spec.users):
        judged = [judge_result(result, objective) for result in point.results]
        for outcome in (Outcome.MISSED, Outcome.FAILED, Outcome.INVALID, Outcome.UNKNOWN):
            if those := [each for each in judged if each.outcome is outcome]:
                often = f"in {len(those)} of {len(judged)} repeats " * (len(judged) > 1)
                found.append(Held(point.spec.users, outcome, often + those[0].message))
                break
        else:
            found.append(Held(point.spec.users, Outcome.PASSED, judged[0].message))
    return found


def users_answer(
    name: str, numbers: Sequence[Held], objective: Objective
) -> tuple[str, int | None, SitebenchError | None]:
    """Return the answer, its number of users, and the error where there is none."""
    missed = [each for each in numbers if each.outcome == Outcome.MISSED]
    holds = [each for each in numbers if each.outcome == Outcome.PASSED]
    error: SitebenchError
    if missed and holds and holds[-1].users > missed[0].users:
        said = (
            f"{name}: {holds[-1].users:,} users hold {objective}, and {missed[0].users:,} do not: "
            f"{missed[0].message}"
        )
        error = ObjectiveMissed(said, _MEASURE_AGAIN)
    elif not holds and numbers[0] in missed:
        said = f"{name}: {numbers[0].users:,} users do not hold {objective}: {numbers[0].message}"
        error = ObjectiveMissed(said, "begin --clients lower, or relax the objective")
    elif not holds:
        said = f"{name}: how many users hold {objective} is not known: {numbers[0].message}"
        error = MeasurementFailed(said, _MEASURE_AGAIN)
    else:
        best = holds[-1].users
        said = f"{name}: up to {best:,} users hold {objective}"
        above = next((each for each in numbers if each.users > best), None)
        if above is None:
            said += ", and no more were measured."
        elif above in missed:
            said += f"; with {above.users:,}, {above.message}."
        else:
            said += f"; whether {above.users:,} do is not known: {above.message}."
        return said, best, None
    return said, None, error
