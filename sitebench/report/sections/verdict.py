"""The first section: what was found, what limited it, whether to trust it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from sitebench.report.model import Report, Run
from sitebench.report.page import Section, figure
from sitebench.report.sections import answers, facts, overview, plainly
from sitebench.report.sections.rates import lines
from sitebench.report.suite import RateFigure, ReportSuite, ops_per_s
from sitebench.runs.point import MOST_FAILURES, PointResult
from sitebench.runs.repeats import Series
from sitebench.tables.table import NOTHING
from sitebench.tables.tables import latency_mark, rate_mark
from sitebench.units import format_rate, format_size
from sitebench.verdict.verdict import Bound, Quoted
from sitebench.verdict.warnings import MORE_LOAD

_BOUNDS = {
    "target-cpu": "the target's CPU",
    "generator": "the load generator",
    "others": "that other programs had the cores",
    "schedule": "the requested rate",
    "pool": "the places of the users' own pool of connections",
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
"""What limited a point, in a sentence; any other verdict is shown by its name."""

_AT_ONCE = {True: 3, False: 1}
"""Messages shown at once for errors and for warnings; the rest can be unfolded."""


@dataclass
class Warned:
    """One kind of warning, and the points that have it."""

    title: str
    remedy: str
    bad: bool
    messages: dict[str, list[str]] = field(default_factory=dict)
    """Points by message."""

    @property
    def points(self) -> int:
        return sum(len(names) for names in self.messages.values())


def section(report: Report) -> Section | None:
    several, parts = len(report.runs) > 1, []
    for run in report.runs:
        label = f"<b>{escape(run.label)}</b> " if several else ""
        said = escape(_first(report, run))
        parts.append(f'<p class="headline">{label}{stamp(run)} {said}</p>')
    parts.append('<div class="cards">')
    for suite in report.present:
        figures = overview.figures(report, suite)
        rows = "".join(
            _searched(report, suite, each) + _best(report, suite, each) for each in figures
        )
        parts.append(f'<div class="card"><h3>{escape(suite.title)}</h3><dl>{rows}</dl></div>')
    # A search that found no rate has nothing to draw.
    charts = [each for each in (overview.chart(report),) if each.choices[""]["bars"]["said"]]
    parts.append(f"</div>{''.join(map(figure, charts))}")
    for run in report.runs:
        label = f"<b>{escape(run.label)}:</b> " if several else ""
        if run.points:
            parts.append(f'<p class="detail">{label}{escape(headline(report, run))}</p>')
        name = f"Settings and machine of {run.label}" if several else "Settings and machine"
        parts.append(
            f"<details data-print><summary>{escape(name)}</summary>{facts.html(run)}</details>"
        )
    return Section("verdict", "Verdict", "".join(parts), tuple(charts))


def warnings(report: Report) -> Section | None:
    """Return every warning with its remedy; None where there is none."""
    body = "".join(_warnings(report, run) for run in report.runs)
    return Section("warnings", "Warnings", body) if body else None


def stamp(run: Run) -> str:
    """Return in a few words what of a run can be quoted."""
    # Rates that a search only tried are to break: they say nothing of its answer.
    found = [each for each in run.series if not run.probes(each)] or run.series
    results = [result for each in found for result in each.results]
    grades = Counter(grade for each in found for grade in answers.grades(run, each))
    if grades[Quoted.NOT_USABLE] == len(results):
        return '<span class="stamp bad">Nothing can be quoted</span>'
    if any(result.fails_too_often for result in results):
        return '<span class="stamp bad">Can be quoted only with its failures</span>'
    if grades[Quoted.NOT_USABLE] or run.missing:
        return '<span class="stamp doubt">Can be quoted in part</span>'
    if grades[Quoted.AT_LEAST]:
        some = "" if not grades[Quoted.MEASURED] else ", in part"
        return f'<span class="stamp doubt">Can be quoted{some} as lower bounds</span>'
    if any(result.verdict.warnings or result.failures for result in results):
        return '<span class="stamp doubt">Can be quoted, with warnings</span>'
    return '<span class="stamp good">Can be quoted</span>'


def _first(report: Report, run: Run) -> str:
    """Return the first sentence: the answer of a search, and what else was measured."""
    if not run.points:
        return headline(report, run)
    found = answers.sentence(report, run)
    others = any(not run.peaks_of(point.spec) for point in run.points)
    return " ".join([found] * bool(found) + [plainly.sentence(run)] * (others or not found))


def in_words(result: PointResult) -> str:
    """Return a point's rate, what limited it, and whether it can be quoted."""
    verdict = result.verdict
    limit = _BOUNDS.get(verdict.bound, verdict.bound.replace("-", " "))
    if verdict.grade == Quoted.NOT_USABLE:
        return f"not usable: {limit}"
    bound = "at least " if verdict.grade == Quoted.AT_LEAST else ""
    return f"{bound}{format_rate(result.ops_per_s)}/s: {limit} was the limit"


def headline(report: Report, run: Run) -> str:
    """Return what was found, what limited it and what can be quoted, in three sentences."""
    if not run.points:
        return "No point was measured: each of them failed."
    return " ".join((_found(report, run), _bound(run), _quotable(run)))


def _found(report: Report, run: Run) -> str:
    ranges, found = [], list[str]()
    for suite in report.present:
        for shown in overview.figures(report, suite):
            found += map(answers.in_full, answers.searches(run, suite.name, shown.operation))
            for line in lines(report, suite.name, shown.operation):
                if (
                    line.run is run
                    and not line.objective
                    and (text := _range(suite, shown, line.series))
                ):
                    ranges.append(text)
                    break
    text = "; ".join(ranges)
    if text:
        found.append(f"{text[:1].upper()}{text[1:]}.")
    return " ".join(found) or "No point is usable."


def _range(suite: ReportSuite, shown: RateFigure, found: Sequence[Series]) -> str:
    sound = [each for each in found if each.usable and each.median(shown.of) is not None]
    if not sound:
        return ""
    rates = [each.median(shown.of) or 0.0 for each in sound]
    low, high = format_rate(min(rates)), format_rate(max(rates))
    rate = low if low == high else f"{low} to {high}"
    if any(not each.valid for each in sound):
        rate = f"at least {rate}"
    over = suite.sized(sound[0].spec)
    if len(sound) > 1:
        over = f"{format_size(sound[0].spec.size)} to {suite.sized(sound[-1].spec)}"
    # Not "html" for HTML, nor "webbench".
    named = any(word[1:] != word[1:].lower() for word in shown.title.split())
    what = shown.title if named else shown.title.lower()
    text = f"{what} {rate}/s with {over}"
    # Only operations have an upper end, and of several sizes each has its own.
    if len(sound) == 1 and sound[0].at_most is not None and shown.of is ops_per_s:
        text += f", and at most {format_rate(sound[0].at_most)}/s"
    return text


def _bound(run: Run) -> str:
    verdicts = (point.result.verdict for point in run.points)
    sound = [each.bound for each in verdicts if each.grade != Quoted.NOT_USABLE]
    if not sound:
        return ""
    counted = Counter(sound).most_common()
    words = [(_BOUNDS.get(bound, bound.replace("-", " ")), n) for bound, n in counted]
    first, n = words[0]
    limit = f"{first[:1].upper()}{first[1:]} was the limit"
    if len(words) == 1:
        return f"{limit} at every point." if n > 1 else f"{limit}."
    others = ", ".join(f"{word} at {n}" for word, n in words[1:])
    return f"{limit} at {n} of {len(sound)} {_unit(run)} ({others})."


def _unit(run: Run) -> str:
    """Return what is counted: repeats of a point are judged one by one, and are one row."""
    return "points" if len(run.points) == len(run.series) else "measurements"


def _quotable(run: Run) -> str:
    total = len(run.points)
    grades = Counter(point.result.verdict.grade for point in run.points)
    sound = total - grades[Quoted.NOT_USABLE]
    if sound == total:
        text = "The one point can be quoted" if total == 1 else f"All {run.counted} can be quoted"
    else:
        text = f"{sound} of {run.counted} can be quoted"
    if bounds := grades[Quoted.AT_LEAST]:
        some = " as a lower bound" if sound == 1 else ", as lower bounds"
        text += some if bounds == sound else f", {bounds} of them as lower bounds"
    if sound < total:
        spoiled = (p.result.verdict for p in run.points)
        why = dict.fromkeys(each.bound for each in spoiled if each.grade == Quoted.NOT_USABLE)
        text += f"; {total - sound} must not be ({', '.join(why)})"
    if run.missing:
        text += f"; {len(run.missing)} more have no result"
    if failing := sum(point.result.fails_too_often for point in run.points):
        text += f"; of {failing} more than {MOST_FAILURES:.0%} of the operations failed"
    with_warnings = sum(
        bool(p.result.verdict.warnings)
        for p in run.points
        if p.result.verdict.grade != Quoted.NOT_USABLE
    )
    if with_warnings:
        text += (
            ", with warnings" if sound == total == 1 else f"; {with_warnings} of them with warnings"
        )
    return f"{text}."


def _searched(report: Report, suite: ReportSuite, shown: RateFigure) -> str:
    """Return what searches to an objective found of an operation."""
    made = ""
    for run in report.runs:
        for peak in answers.searches(run, suite.name, shown.operation):
            best = next((each for each in run.series if run.found_at(each) is peak), None)
            if best is None or peak.get("rate") is None:
                none = (
                    f"<b>{NOTHING}</b><small>no rate found with {escape(peak['objective'])}</small>"
                )
                made += f"<div><dt>{escape(shown.title)}</dt><dd>{none}</dd></div>"
                continue
            rate = answers.rate_of(peak)[1].removesuffix("/s").replace("at least", ">=")
            label = run.label if len(report.runs) > 1 else ""
            held = [f"with {peak['objective']}", answers.held(peak)]
            remarks = [label, *held, *_remarks(suite, best)]
            made += _row(shown.title, rate, remarks)
    return made


def _best(report: Report, suite: ReportSuite, shown: RateFigure) -> str:
    """Return an operation's highest usable rate; nothing where all of them were for a search."""
    measured = [
        each
        for run, each in report.measured
        if (each.spec.suite, each.spec.operation) == (suite.name, shown.operation)
        and not (run.probes(each) or run.found_at(each))
    ]
    if not measured:
        return ""
    series = [each for each in measured if each.usable and each.median(shown.of) is not None]
    if not series:
        none = '<span class="mark invalid">n/a</span>'
        return f"<div><dt>{escape(shown.title)}</dt><dd>{none}</dd></div>"
    best = max(series, key=lambda each: each.median(shown.of) or 0.0)
    return _row(shown.title, rate_mark(best, shown.of), _remarks(suite, best))


def _remarks(suite: ReportSuite, each: Series) -> list[str]:
    """Return what stands beside a rate: its size, its latency, and what failed."""
    # The tester's own waiting is in the latency of a lower bound.
    latency = ["no latency of the server alone"]
    if each.valid:
        latency = [f"{name} {latency_mark(each, name)}" for name in ("p95", "p99")]
    return [suite.sized(each.spec), *latency, f"{each.failures:,} failed"]


def _row(title: str, rate: str, remarks: Sequence[str]) -> str:
    return (
        f"<div><dt>{escape(title)}</dt><dd><b>{escape(rate)}<small>/s</small></b>"
        f"<small>{escape(', '.join(filter(None, remarks)))}</small></dd></div>"
    )


def warned(report: Report, run: Run) -> list[Warned]:
    """Return what is wrong with a run, worst first: invalid points, missing ones, warnings."""
    invalid = Warned(
        "Not usable: do not quote",
        "leave these points out, or follow the remedies and measure again",
        bad=True,
    )
    bounds = Warned(
        "Lower bounds: the tester was the limit",
        f'quote the rate as "at least", and no latency; for more, {MORE_LOAD}',
        bad=False,
    )
    taken = Warned(
        "Lower bounds: other programs had the cores",
        'quote the rate as "at least", and no latency; for more, end them and measure again',
        bad=False,
    )
    found: dict[tuple[str, str], Warned] = {}
    for point in run.points:
        name = report.distinct_name(point.spec, run)
        verdict = point.result.verdict
        if not verdict.valid:
            why = f"{verdict.bound}: {verdict.evidence}"
            lower = taken if verdict.bound == Bound.OTHERS else bounds
            kept = lower if verdict.grade == Quoted.AT_LEAST else invalid
            kept.messages.setdefault(why, []).append(name)
        for warning in verdict.warnings:
            title = warning.kind.replace("-", " ").capitalize()
            kind = found.setdefault(
                (warning.kind, warning.remedy), Warned(title, warning.remedy, False)
            )
            kind.messages.setdefault(warning.message, []).append(name)
    every = (invalid, _missing(report, run), bounds, taken, *found.values())
    return [each for each in every if each.messages]


def _missing(report: Report, run: Run) -> Warned:
    remedy = f"continue with `sitebench resume {run.path}`"
    warning = Warned("Points without a result", remedy, bad=True)
    for each in run.missing:
        why = (each.error or {}).get("message", f"{each.status}, according to the file")
        warning.messages.setdefault(why, []).append(report.distinct_name(each.spec, run))
    return warning


def _warnings(report: Report, run: Run) -> str:
    found = warned(report, run)
    if not found:
        return ""
    items = "".join(_item(each, _unit(run)) for each in found)
    heading = f"<h3>{escape(run.label)}</h3>" if len(report.runs) > 1 else ""
    return f'{heading}<ul class="warnings">{items}</ul>'


def _item(warning: Warned, unit: str) -> str:
    each = [
        f'<div>{escape(message)} <span class="where">({escape(_where(names))})</span></div>'
        for message, names in warning.messages.items()
    ]
    most = _AT_ONCE[warning.bad]
    first, rest = "".join(each[:most]), each[most:]
    if rest:
        first += f"<details><summary>{len(rest)} more</summary>{''.join(rest)}</details>"
    bad = ' class="bad"' if warning.bad else ""
    points = f"1 {unit[:-1]}" if warning.points == 1 else f"{warning.points} {unit}"
    return (
        f"<li{bad}><b>{escape(warning.title)}: {points}</b>{first}"
        f'<div class="remedy">{escape(warning.remedy)}</div></li>'
    )


def _where(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    shown = "; ".join(unique[:4])
    return shown if len(unique) <= 4 else f"{shown}; and {len(unique) - 4} more"
