"""Whether stored results counted the same as operations."""

from __future__ import annotations

from sitebench.runs.point import PointResult


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
