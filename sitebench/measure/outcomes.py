"""The outcome of a point for a pipeline: passed or not, and why.

A point passes if it was measured, is valid and meets the objective, and its target has not died. A
point does not pass if the load generator was the limit, because the target's figure is unknown
then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from sitebench.counts.steady import Steadiness
from sitebench.errors import ObjectiveMissed
from sitebench.measure.objective import Objective, ObjectiveState
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import best_tries
from sitebench.runs.store import RunStore
from sitebench.tables.tables import point_name
from sitebench.units import format_duration, plural
from sitebench.verdict.warning import PointWarning, WarningKind
from sitebench.verdict.warnings import LONGER, steady_remedy


class Outcome(StrEnum):
    PASSED = "passed"
    MISSED = "missed"
    UNKNOWN = "unknown"
    """A measured value is unknown or a bound, so the true value can miss the objective."""
    INVALID = "invalid"
    FAILED = "failed"
    SKIPPED = "skipped"


_OUTCOMES = {
    ObjectiveState.MET: Outcome.PASSED,
    ObjectiveState.BROKEN: Outcome.MISSED,
    ObjectiveState.UNKNOWN: Outcome.UNKNOWN,
}


class Judged(msgspec.Struct, frozen=True):
    """A point and its outcome; `message` is the reason in a sentence."""

    spec: PointSpec
    result: PointResult | None
    outcome: Outcome
    message: str
    kind: str = ""
    """The name of the error, if the point failed."""


def judge_result(result: PointResult, objective: Objective | None) -> Judged:
    for warning in result.verdict.warnings:
        if warning.kind == WarningKind.TARGET_DIED:
            return Judged(result.spec, result, Outcome.FAILED, warning.message, warning.kind)
    if not result.verdict.valid:
        reason = f"{result.verdict.bound}: {result.verdict.evidence}"
        # Failures are known even if the load generator was the limit.
        failures = None if objective is None else objective.judge_failures(result)
        if failures is not None and failures.state is ObjectiveState.BROKEN:
            message = f"{failures.message}; {reason}"
            return Judged(result.spec, result, Outcome.MISSED, message, "objective")
        return Judged(result.spec, result, Outcome.INVALID, reason, result.verdict.bound)
    if objective is None:
        return Judged(result.spec, result, Outcome.PASSED, result.verdict.evidence)
    judgement = objective.judge(result)
    return Judged(result.spec, result, _OUTCOMES[judgement.state], judgement.message, "objective")


def advised_results(
    results: Iterable[PointResult], objective: Objective | None
) -> list[PointResult]:
    """Return results whose remedies name the window length that the objective needs."""
    advised = []
    for result in results:
        warnings = result.verdict.warnings
        if objective is not None:
            # The objective's percentile can need a longer window than a steady rate. Then all
            # warnings of the point name this longer window.
            steady = steady_remedy(result.seconds)
            warnings = tuple(
                replace(w, remedy=steady) if w.remedy.startswith(LONGER) else w
                for w in warnings
                if w.kind != WarningKind.TOO_FEW_SAMPLES
            )
            conditions = objective.judge(result).outcomes
            longest = max(conditions, key=lambda condition: condition.longer_s)
            if longest.longer_s and result.settled.state != Steadiness.GROWING:
                remedy = LONGER + format_duration(longest.longer_s)
                warning = PointWarning(WarningKind.TOO_FEW_SAMPLES, longest.message, remedy)
                warnings = (*warnings, warning)
        advised.append(replace(result, verdict=replace(result.verdict, warnings=warnings)))
    return advised


def judge_points(
    specs: Iterable[PointSpec], store: RunStore, objective: Objective | None
) -> list[Judged]:
    judged = []
    results = {replace(r.spec, threads=None).key: r for r in best_tries(store.results())}
    for spec in specs:
        result, failure = results.get(spec.key), store.failure(spec.key)
        if result is not None:
            judged.append(judge_result(result, objective))
        elif failure is not None:
            kind, message = failure["kind"], failure["message"]
            judged.append(Judged(spec, None, Outcome.FAILED, message, kind))
        else:
            reason = "the run ended before this point was measured"
            judged.append(Judged(spec, None, Outcome.SKIPPED, reason))
    return judged


def missed_objectives(judged: Sequence[Judged]) -> list[str]:
    return [
        f"{point.outcome}: {point_name(point.spec)}: {point.message}"
        for point in judged
        if point.outcome is not Outcome.PASSED
    ]


def raise_if_missed(judged: Sequence[Judged], objective: Objective) -> None:
    lines = missed_objectives(judged)
    if lines:
        missed = any(point.outcome is Outcome.MISSED for point in judged)
        state = "not met by" if missed else "unknown at"
        raise ObjectiveMissed(
            f"objective {objective} {state} {len(lines)} of {plural(len(judged), 'point')}",
            "each is listed above with its value, or with the reason why the value is not known",
        )
