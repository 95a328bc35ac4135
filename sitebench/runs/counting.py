"""What a stored result counts as an operation, where its operation counts another step now.

An operation's rate is of the step that it names: a lookup's of searches, an ils-user's of whole
passes. Runs of an ils-user once counted its four lookups, so that a plan from them carried four
times as many users: such a result is read as one of passes, of which it has the counts and clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sitebench.counts import metrics
from sitebench.runs.point import PointResult
from sitebench.suite import suites


def read(found: Mapping[str, Any]) -> PointResult:
    """Read what `PointResult.to_json` wrote, counted as its operation counts now."""
    return as_now(PointResult.read(found))


def alike(one: PointResult, other: PointResult) -> bool:
    """Return whether two results counted the same as operations.

    Those of a scenario file have a row each, and which of its cards came up in a window is chance:
    there the operations that succeeded in both are asked.
    """
    if not (one.spec.of_a_file and other.spec.of_a_file):
        return one.counts == other.counts
    mine, theirs = _done(one), _done(other)
    return all(mine[name] & theirs[name] for name in mine.keys() & theirs.keys())


def _done(result: PointResult) -> dict[str, set[str]]:
    """Return the steps that were counted, by operation."""
    found: dict[str, set[str]] = {}
    for each in result.steps:
        if each.counted and each.count > each.failures:
            found.setdefault(each.program, set()).add(each.step)
    return found


def as_now(result: PointResult) -> PointResult:
    """Return a result counted as its operation counts now; itself where it is, or cannot be."""
    spec = result.spec
    now = {s.name: s.counts for s in suites()}.get(spec.suite, {}).get(spec.operation)
    steps = [each for each in result.steps if each.program == spec.operation and each.step == now]
    if now is None or result.counts == (now,) or not steps:
        return result
    if "scenario" in spec.settings:
        # A file of the user's says what it counts, whatever its name.
        return result
    (passes,) = steps
    operations = round(passes.per_s * result.seconds)
    share = operations / result.operations if result.operations else 0.0
    at_most = result.verdict.at_most_per_s
    return replace(
        result,
        operations=operations,
        clocks=passes.clocks,
        counters={
            each: value / share if each.unit == "ns" and value is not None and share else value
            for each, value in ((c, result.counters.get(c)) for c in metrics.COUNTERS)
        },
        verdict=replace(result.verdict, at_most_per_s=None if at_most is None else at_most * share),
        steps=tuple(replace(each, counted=each is passes) for each in result.steps),
    )
