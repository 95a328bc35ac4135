"""What a pipeline asks: which points passed, which did not, and why.

A point passes when it was measured, its number is the target's, and it meets the objective. Where
the tester was the limit, or an objective cannot be told, nothing is known of the target: that is
no pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitebench.errors import ObjectiveMissed
from sitebench.measure.objective import Objective, State
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.tables.tables import point_name


class Outcome(StrEnum):
    """How a point fared."""

    PASSED = "passed"
    MISSED = "missed"
    INVALID = "invalid"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Judged:
    """A point, how it fared and why, in a sentence."""

    spec: PointSpec
    result: PointResult | None
    outcome: Outcome
    said: str
    kind: str = ""
    """Of a failure: the error's name."""


def judge_result(result: PointResult, objective: Objective | None) -> Judged:
    """Hold a finished point against an objective, where there is one."""
    if not result.verdict.valid:
        said = f"{result.verdict.bound}: {result.verdict.evidence}"
        return Judged(result.spec, result, Outcome.INVALID, said, result.verdict.bound)
    if objective is None:
        return Judged(result.spec, result, Outcome.PASSED, result.verdict.evidence)
    judgement = objective.judge(result)
    met = judgement.state is State.MET
    return Judged(
        result.spec, result, Outcome.PASSED if met else Outcome.MISSED, judgement.said, "objective"
    )


def judge_points(
    specs: Iterable[PointSpec], store: RunStore, objective: Objective | None
) -> list[Judged]:
    """Hold every planned point against an objective, measured or not."""
    return [_judge(spec, store.result(spec), store.failure(spec.key), objective) for spec in specs]


def _judge(
    spec: PointSpec,
    result: PointResult | None,
    failure: Mapping[str, str] | None,
    objective: Objective | None,
) -> Judged:
    if result is not None:
        return judge_result(result, objective)
    if failure is not None:
        return Judged(spec, None, Outcome.FAILED, failure["message"], failure["kind"])
    return Judged(spec, None, Outcome.SKIPPED, "the run ended before this point was measured")


def missed(judged: Sequence[Judged]) -> list[str]:
    """Return a line per point that did not pass."""
    return [
        f"{each.outcome}: {point_name(each.spec)}: {each.said}"
        for each in judged
        if each.outcome is not Outcome.PASSED
    ]


def refuse(judged: Sequence[Judged], objective: Objective) -> None:
    """Raise when not every point passed."""
    lines = missed(judged)
    if lines:
        raise ObjectiveMissed(
            f"objective {objective} missed by {len(lines)} of {len(judged)} points",
            "each is named above, with what was measured",
        )
