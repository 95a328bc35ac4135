"""A run's answer in plain words, for a reader who knows neither bounds nor percentiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sitebench.report.model import Run
from sitebench.runs.point import PointResult
from sitebench.units import format_rate, plural
from sitebench.verdict.verdict import Bound, Quoted
from sitebench.verdict.warning import WarningKind

_LIMITS: dict[str, str] = {
    Bound.TARGET_CPU: "Its processor was fully used.",
    Bound.NETWORK: "The network was fully used.",
    Bound.MEMORY: "Its memory was fully used.",
    Bound.DISK: "Its disk was fully used.",
    Bound.UNDECIDED: "What limited it is not known.",
    Bound.STAGED: "That is the mean of its stages: see below how it did in each minute.",
    Bound.POOL: "Its users waited for one of their own connections.",
    Bound.SCHEDULE: "That is all it was asked for: it kept up.",
}
"""What a reader may conclude from one figure that is the server's own."""

_SPOILT: dict[str, str] = {
    Bound.LEAK: "it showed people the data of others",
    Bound.UNSETTLED: "its speed had not settled",
    Bound.FAILED: "the measurement failed",
    Bound.GENERATOR: "a part of the load generator was lost",
}
"""Why a figure says nothing about the server's speed."""

_BUSY = {WarningKind.NOISY_MACHINE, WarningKind.GENERATOR_STARVED, WarningKind.STOLEN_TIME}
"""Warnings by which other work took the load generator's processor."""


def sentence(run: Run) -> str:
    """Return what a run says about the server, and how far it may be relied upon."""
    found = {grade: [r for r in run.results if r.verdict.grade == grade] for grade in Quoted}
    own, bounds, spoilt = (found[grade] for grade in Quoted)
    if spoilt and len(spoilt) == len(run.results):
        return f"No answer about the server: {_reasons(spoilt)}."
    if bounds and not own and not spoilt:
        return _at_least(bounds)
    parts = []
    if len(own) == 1 == len(run.results):
        parts.append(_one(own[0]))
    elif own:
        which = f"All {len(own)}" if len(own) == len(run.results) else f"{len(own)} of"
        which += "" if len(own) == len(run.results) else f" {len(run.results)}"
        # Every repeat is judged by itself.
        points = len(run.series)
        what = "figures" if points == len(run.results) else "measurements"
        of = "" if what == "figures" else f" of {plural(points, 'point')}"
        parts.append(f"{which} {what}{of} are the server's own.")
    if bounds:
        say = "1 says" if len(bounds) == 1 else f"{len(bounds)} say"
        parts.append(f'{say} "at least": the server may do more than that.')
    if spoilt:
        which = "1 says" if len(spoilt) == 1 else f"{len(spoilt)} say"
        parts.append(f"{which} nothing about it: {_reasons(spoilt)}.")
    failed = sum(result.failures for result in (*own, *bounds))
    if failed:
        parts.append(f"{failed:,} operation{'s' if failed > 1 else ''} failed.")
    return " ".join(parts)


def _one(result: PointResult) -> str:
    limit = _LIMITS.get(result.verdict.bound, "")
    return f"The server did {format_rate(result.ops_per_s)}/s. {limit}".rstrip()


def _at_least(bounds: Sequence[PointResult]) -> str:
    """Return why the server was not loaded fully, and what it did all the same."""
    kinds = {warning.kind for result in bounds for warning in result.verdict.warnings}
    why = "the load generator reached its own limit first"
    if all(result.verdict.bound == Bound.OTHERS for result in bounds):
        why = "other programs had the processors that it needed"
    elif kinds & _BUSY:
        why = "the computer that made the load was too busy to load it fully"
    did = 'Every rate means "at least", every latency "at most".'
    if len(bounds) == 1:
        did = f"It did at least {format_rate(bounds[0].ops_per_s)}/s."
    return f"Not yet an answer about the server: {why}. {did}"


def _reasons(spoilt: Sequence[PointResult]) -> str:
    counted = Counter(result.verdict.bound for result in spoilt).most_common()
    words = [_SPOILT.get(bound, bound.replace("-", " ")) for bound, _ in counted]
    return "; ".join(words)
