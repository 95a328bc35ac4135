"""The answer of `peak`, with which a report on a search begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sitebench.report.model import Run
from sitebench.runs.repeats import Series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Quoted

Peak = Mapping[str, Any]
"""An answer in the manifest."""


def searches(run: Run, suite: str, operation: str) -> list[Peak]:
    """Return the answers of searches to an objective, for one operation."""
    return [
        peak
        for peak in run.manifest.get("peaks", ())
        if peak.get("objective") is not None
        and (peak.get("suite"), peak.get("operation")) == (suite, operation)
    ]


def is_open(peak: Peak | None) -> bool:
    """Whether the rate is a lower bound, as the target's limit is not known."""
    return peak is not None and not peak.get("seen")


def grades(run: Run, series: Series) -> list[Quoted]:
    """Return how each repeat of a point may be quoted, also as the answer of a search."""
    quoted = [result.verdict.grade for result in series.results]
    if is_open(run.found_at(series)):
        return [Quoted.AT_LEAST if grade is Quoted.MEASURED else grade for grade in quoted]
    return quoted


def rate_of(peak: Peak) -> tuple[float, str]:
    """Return the rate of an answer, also in words."""
    least = "at least " if is_open(peak) else ""
    return peak["rate"], f"{least}{format_rate(peak['rate'])}/s"


def times_held(peak: Peak) -> str:
    """Return how often the rate held; without a limit, that it is not known."""
    if is_open(peak):
        return "the server's own limit is not known"
    counts = peak["seen"]
    return f"held {counts['held']} of {counts['held_of']} times"
