"""What `peak` found: a report on a search begins with its answer, not with what it tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sitebench.report.model import Report, Run
from sitebench.runs.repeats import Series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Quoted

Peak = Mapping[str, Any]
"""An answer, as the manifest has it."""


def searches(run: Run, suite: str, operation: str) -> list[Peak]:
    """Return the answers of searches to an objective, for one operation."""
    return [
        peak
        for peak in run.manifest.get("peaks", ())
        if peak.get("objective") is not None
        and (peak.get("suite"), peak.get("operation")) == (suite, operation)
    ]


def is_open(peak: Peak | None) -> bool:
    """Whether the rate that was found is a lower bound: the target's limit is not known."""
    return peak is not None and not peak.get("seen")


def grades(run: Run, each: Series) -> list[Quoted]:
    """Return how each repeat of a point may be quoted, as an answer if it is one."""
    found = [result.verdict.grade for result in each.results]
    if is_open(run.found_at(each)):
        return [Quoted.AT_LEAST if grade is Quoted.MEASURED else grade for grade in found]
    return found


def rate_of(peak: Peak) -> tuple[float, str]:
    """Return the rate that was found, also in words."""
    least = "at least " if is_open(peak) else ""
    return peak["rate"], f"{least}{format_rate(peak['rate'])}/s"


def held(peak: Peak) -> str:
    """Return how often it held; where the target's limit is not known, that."""
    if is_open(peak):
        return "the server's own limit is not known"
    seen = peak["seen"]
    return f"held {seen['held']} of {seen['held_of']} times"


def sentence(report: Report, run: Run) -> str:
    """Return the answers of a run; empty if it has none."""
    return " ".join(_one(report, run, peak) for peak in run.manifest.get("peaks", ()))


def _one(report: Report, run: Run, peak: Peak) -> str:
    best = next((each for each in run.series if run.found_at(each) is peak), None)
    if best is None or peak.get("rate") is None:
        return in_full(peak)
    _, rate = rate_of(peak)
    return f"{report.name(best.spec)}: {rate} with {peak['objective']} ({held(peak)})."


def in_full(peak: Peak) -> str:
    """Return the answer as the search said it, as sentences."""
    return f"{str(peak['said']).rstrip('.')}."
