"""Whether the figures of a run are reliable, in words, and the next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from sitebench.report.model import Report, Run
from sitebench.runs.point import MOST_FAILURES, PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.advice import advise
from sitebench.units import format_rate, plural
from sitebench.verdict.verdict import Bound, Quoted
from sitebench.verdict.warning import WarningKind

_LIMITS = {
    "target-cpu": "the target's CPU",
    "generator": "the load generator",
    "others": "other programs' use of the cores",
    "schedule": "the requested rate",
    "pool": "the users' own pool of connections",
    "staged": "no single load of its stages",
    "undecided": "no single monitored resource",
    "network": "the network",
    "memory": "memory",
    "operating-system": "the operating system",
    "software": "the target's own software",
    "serialised": "operations of the target that wait for each other",
    "disk": "the disk",
    "failed": "failures",
    "leak": "a leak",
}
"""The words for a verdict in a sentence; a verdict without an entry is shown by its own name."""

STAMPS = {
    "Measured": "good",
    "Measured, with warnings": "doubt",
    "Partly lower bounds": "doubt",
    "Lower bounds only": "doubt",
    "Partly not usable": "doubt",
    "Too many failures": "bad",
    "Not usable": "bad",
}
"""The words of `stamp`, and their CSS classes."""

_SENTENCES: dict[str, str] = {
    Bound.UNDECIDED: "The limit is not known.",
    Bound.SCHEDULE: "The server kept up with the requested rate.",
    Bound.STAGED: "The load changed in stages: each minute has its figures below.",
}
"""Sentences for verdicts without a limit."""

_SPOILT: dict[str, str] = {
    Bound.LEAK: "it showed data of other people",
    Bound.UNSETTLED: "its rate or latency was not steady",
    Bound.FAILED: "the measurement failed",
    Bound.GENERATOR: "a part of the load generator was lost",
}
"""Reasons why a figure is not the server's own."""

_BUSY = {WarningKind.NOISY_MACHINE, WarningKind.GENERATOR_STARVED, WarningKind.STOLEN_TIME}
"""Warnings that other programs used the load generator's processor."""


class Remedy(msgspec.Struct, frozen=True):
    remedy: str
    bad: bool
    points: int
    messages: dict[str, list[str]]


def remedies(report: Report, run: Run, points: Sequence[Series] | None = None) -> list[Remedy]:
    """Return the remedies for points of a run (default: all), worst first."""
    names = report.distinct_name
    missing: dict[str, list[str]] = {}
    for stored in run.missing:
        reason = (stored.error or {}).get("message", f"{stored.status}, according to the file")
        missing.setdefault(reason, []).append(names(stored.spec, run))
    listed = [
        Remedy(
            advice.remedy,
            advice.bad,
            sum(map(len, advice.concerned.values())),
            {
                message: [names(spec, run) for spec in specs]
                for message, specs in advice.messages.items()
            },
        )
        for advice in advise(run.series if points is None else points)
    ]
    listed.sort(key=lambda remedy: not remedy.bad)
    if missing:
        resume = f"continue with `sitebench resume {run.path}`"
        listed.insert(0, Remedy(resume, bad=True, points=len(run.missing), messages=missing))
    return listed


def next_step(report: Report, run: Run) -> str:
    first = next(iter(remedies(report, run, _without_probes(run))), None)
    if first is not None:
        return f"{first.remedy[:1].upper()}{first.remedy[1:]}."
    return "Nothing to repair. For a higher rate, see the section on its limit."


def in_words(result: PointResult) -> str:
    """Return a point's rate, what limited it, and whether it can be quoted."""
    limit = _limit(result)
    if result.verdict.grade == Quoted.NOT_USABLE:
        return f"not usable: {limit}"
    bound = "at least " if result.verdict.grade == Quoted.AT_LEAST else ""
    return f"{bound}{format_rate(result.ops_per_s)}/s: {limit} was the limit"


def _limit(result: PointResult) -> str:
    bound = result.verdict.bound
    return _LIMITS.get(bound, bound.replace("-", " "))


def _without_probes(run: Run) -> list[Series]:
    return [series for series in run.series if not run.probes(series)] or run.series


def _graded_results(run: Run) -> list[tuple[Quoted, PointResult]]:
    """Return the results that count, with their grades."""
    return [
        pair
        for series in _without_probes(run)
        for pair in zip(run.grades(series), series.results, strict=True)
    ]


def stamp(run: Run) -> str:
    results = [result for _, result in _graded_results(run)]
    grades = Counter(grade for grade, _ in _graded_results(run))
    if grades[Quoted.NOT_USABLE] == len(results):
        return "Not usable"
    if any(result.fails_too_often for result in results):
        return "Too many failures"
    if grades[Quoted.NOT_USABLE] or run.missing:
        return "Partly not usable"
    if grades[Quoted.AT_LEAST]:
        return "Partly lower bounds" if grades[Quoted.MEASURED] else "Lower bounds only"
    if any(result.verdict.warnings or result.failures for result in results):
        return "Measured, with warnings"
    return "Measured"


def sentence(run: Run) -> str:
    """Return why the figures of a run are the server's own, lower bounds, or not usable."""
    graded = _graded_results(run)
    measured, bounds, spoilt = (
        [result for grade, result in graded if grade is quality] for quality in Quoted
    )
    if not graded:
        return "No point was measured: each of them failed."
    if len(spoilt) == len(graded):
        return f"No usable figure of the server: {_reasons(spoilt)}."
    parts = []
    if measured:
        parts.append(f"{_share(measured, graded)} the server's own.")
        if len(limits := {result.verdict.bound for result in measured}) == 1:
            parts.append(_SENTENCES.get(limits.pop(), f"The limit was {_limit(measured[0])}."))
    if bounds:
        bound = "a lower bound" if len(bounds) == 1 else "lower bounds"
        parts.append(f"{_share(bounds, graded)} {bound}: the server can do more.")
        parts.append(f"{_why_not_more(bounds)}.")
    if spoilt:
        parts.append(f"{_share(spoilt, graded)} not usable: {_reasons(spoilt)}.")
    if failing := sum(result.fails_too_often for _, result in graded):
        points = plural(failing, "point")
        parts.append(f"In {points}, more than {MOST_FAILURES:.0%} of the operations failed.")
    elif failed := sum(result.failures for result in (*measured, *bounds)):
        parts.append(f"{plural(failed, 'operation')} failed.")
    if run.missing:
        parts.append(f"{plural(len(run.missing), 'point')} planned, but not measured.")
    return " ".join(parts)


def _share(some: Sequence[PointResult], graded: Sequence[object]) -> str:
    if len(some) == len(graded):
        return "The rate is" if len(graded) == 1 else f"All {len(graded)} rates are"
    return f"{len(some)} of {len(graded)} rates {'is' if len(some) == 1 else 'are'}"


def _why_not_more(bounds: Sequence[PointResult]) -> str:
    kinds = {warning.kind for result in bounds for warning in result.verdict.warnings}
    if all(result.verdict.bound == Bound.OTHERS for result in bounds):
        return "Other programs used the cores that it needed"
    if kinds & _BUSY:
        return "The load generator's machine was too busy for a higher load"
    if any(result.verdict.bound == Bound.GENERATOR for result in bounds):
        return "The load generator reached its own limit first"
    return "The search ended before it found the server's limit"


def _reasons(spoilt: Sequence[PointResult]) -> str:
    bounds = Counter(result.verdict.bound for result in spoilt).most_common()
    return "; ".join(_SPOILT.get(bound, bound.replace("-", " ")) for bound, _ in bounds)
