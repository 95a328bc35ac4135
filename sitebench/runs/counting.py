from __future__ import annotations

from sitebench.runs.point import PointResult


def same_steps(one: PointResult, other: PointResult) -> bool:
    """Return whether two results counted the same steps as operations.

    Operations of a scenario file have a row each, and chance decides which of them a window has:
    only operations that succeeded in both results are compared.
    """
    if not (one.spec.of_a_file and other.spec.of_a_file):
        return one.counts == other.counts
    first, second = _counted_steps(one), _counted_steps(other)
    return all(first[name] & second[name] for name in first.keys() & second.keys())


def _counted_steps(result: PointResult) -> dict[str, set[str]]:
    steps: dict[str, set[str]] = {}
    for step in result.steps:
        if step.counted and step.count > step.failures:
            steps.setdefault(step.program, set()).add(step.step)
    return steps
