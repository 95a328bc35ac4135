"""The first section: what was found, what limited it, whether to trust it; then every warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.report.sections.rates import lines
from sitebench.report.suite import RateFigure, ReportSuite
from sitebench.runs.repeats import Series
from sitebench.tables.tables import percentile
from sitebench.units import format_ns, format_rate, format_size

_BOUNDS = {
    "target-cpu": "the target's CPU",
    "generator": "the load generator",
    "schedule": "the requested rate",
    "undecided": "no single monitored resource",
    "network": "the network",
    "memory": "memory",
    "operating-system": "the operating system",
    "software": "the target's own software",
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
    parts = []
    for run in report.runs:
        heading = f"<h3>{escape(run.label)}</h3>" if len(report.runs) > 1 else ""
        parts.append(
            f'{heading}<p class="headline">{stamp(run)} {escape(headline(report, run))}</p>'
        )
    parts.append('<div class="cards">')
    for suite in report.present:
        rows = "".join(_best(report, suite, figure) for figure in _figures(report, suite))
        parts.append(f'<div class="card"><h3>{escape(suite.title)}</h3><dl>{rows}</dl></div>')
    parts.append("</div>")
    parts += [_warnings(report, run) for run in report.runs]
    return Section("verdict", "Verdict", "".join(parts))


def stamp(run: Run) -> str:
    invalid = sum(not point.result.verdict.valid for point in run.points)
    if invalid == len(run.points):
        return '<span class="stamp bad">Do not trust</span>'
    if invalid or run.missing:
        return '<span class="stamp doubt">Trust in part</span>'
    if any(point.result.verdict.warnings or point.result.failures for point in run.points):
        return '<span class="stamp doubt">Trust, with warnings</span>'
    return '<span class="stamp good">Trust</span>'


def headline(report: Report, run: Run) -> str:
    """Return what was found, what limited it and whether to trust it, in three sentences."""
    return " ".join((_found(report, run), _bound(run), _trust(run)))


def _found(report: Report, run: Run) -> str:
    ranges = []
    for suite in report.present:
        for figure in _figures(report, suite):
            for line in lines(report, suite.name, figure.operation):
                if line.run is run and (text := _range(suite, figure, line.series)):
                    ranges.append(text)
                    break
    text = "; ".join(ranges)
    return f"{text[:1].upper()}{text[1:]}." if text else "No point is valid."


def _figures(report: Report, suite: ReportSuite) -> list[RateFigure]:
    """Return one figure per operation: the first that the papers have of it."""
    found: dict[str, RateFigure] = {}
    for figure in suite.figures(report.operations(suite)):
        found.setdefault(figure.operation, figure)
    return list(found.values())


def _range(suite: ReportSuite, figure: RateFigure, found: Sequence[Series]) -> str:
    sound = [each for each in found if each.valid and each.median(figure.of) is not None]
    if not sound:
        return ""
    rates = [each.median(figure.of) or 0.0 for each in sound]
    low, high = format_rate(min(rates)), format_rate(max(rates))
    rate = low if low == high else f"{low} to {high}"
    sizes = [format_size(each.spec.size) for each in sound]
    over = sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    # Not "html" for HTML, nor "webbench".
    named = any(word[1:] != word[1:].lower() for word in figure.title.split())
    what = figure.title if named else figure.title.lower()
    return f"{what} {rate}/s with {over} {suite.people}"


def _bound(run: Run) -> str:
    sound = [p.result.verdict.bound for p in run.points if p.result.verdict.valid]
    if not sound:
        return ""
    counted = Counter(sound).most_common()
    words = [(_BOUNDS.get(bound, bound.replace("-", " ")), n) for bound, n in counted]
    first, n = words[0]
    limit = f"{first[:1].upper()}{first[1:]} was the limit"
    if len(words) == 1:
        return f"{limit} at every point." if n > 1 else f"{limit}."
    others = ", ".join(f"{word} at {n}" for word, n in words[1:])
    return f"{limit} at {n} of {len(sound)} points ({others})."


def _trust(run: Run) -> str:
    total = len(run.points)
    invalid = [point for point in run.points if not point.result.verdict.valid]
    if not invalid:
        every = "The one point is" if total == 1 else f"All {total} points are"
        text = f"{every} valid"
    else:
        bounds = ", ".join(dict.fromkeys(p.result.verdict.bound for p in invalid))
        text = f"{len(invalid)} of {total} points must not be quoted ({bounds})"
    if run.missing:
        text += f"; {len(run.missing)} more have no result"
    with_warnings = sum(
        bool(p.result.verdict.warnings) for p in run.points if p.result.verdict.valid
    )
    if with_warnings:
        text += f"; {with_warnings} come with warnings"
    return f"{text}."


def _best(report: Report, suite: ReportSuite, figure: RateFigure) -> str:
    """Return an operation's highest valid rate, its size, its p99, and its ratio to 1997."""
    series = [
        each
        for _, each in report.measured
        if (each.spec.half, each.spec.operation) == (suite.name, figure.operation)
        and each.valid
        and each.median(figure.of) is not None
    ]
    if not series:
        none = '<span class="mark invalid">not valid</span>'
        return f"<div><dt>{escape(figure.title)}</dt><dd>{none}</dd></div>"
    best = max(series, key=lambda each: each.median(figure.of) or 0.0)
    rate = best.median(figure.of) or 0.0
    p99 = best.median(percentile("p99"))
    remarks = [suite.sized(best.spec)]
    remarks += [f"99 % within {format_ns(p99 * 1e3)}"] if p99 is not None else []
    last = figure.printed[-1] if figure.printed else None
    if last is not None and best.spec.size in last.sizes:
        then = last.rates[list(last.sizes).index(best.spec.size)]
        remarks.append(f"{rate / then:,.0f} times a {last.machine}")
    return (
        f"<div><dt>{escape(figure.title)}</dt><dd><b>{format_rate(rate)}<small>/s</small></b>"
        f"<small>{escape(', '.join(remarks))}</small></dd></div>"
    )


def warned(report: Report, run: Run) -> list[Warned]:
    """Return what is wrong with a run, worst first: invalid points, missing ones, warnings."""
    invalid = Warned(
        "Not valid: do not quote",
        "leave these points out, or follow the remedies and measure again",
        bad=True,
    )
    found: dict[tuple[str, str], Warned] = {}
    for point in run.points:
        name = report.name(point.spec)
        verdict = point.result.verdict
        if not verdict.valid:
            why = f"{verdict.bound}: {verdict.evidence}"
            invalid.messages.setdefault(why, []).append(name)
        for warning in verdict.warnings:
            title = warning.kind.replace("-", " ").capitalize()
            kind = found.setdefault(
                (warning.kind, warning.remedy), Warned(title, warning.remedy, False)
            )
            kind.messages.setdefault(warning.message, []).append(name)
    return [each for each in (invalid, _missing(report, run), *found.values()) if each.messages]


def _missing(report: Report, run: Run) -> Warned:
    remedy = f"continue with `sitebench resume {run.path}`"
    warning = Warned("Points without a result", remedy, bad=True)
    for each in run.missing:
        why = (each.error or {}).get("message", f"{each.status}, according to the file")
        warning.messages.setdefault(why, []).append(report.name(each.spec))
    return warning


def _warnings(report: Report, run: Run) -> str:
    found = warned(report, run)
    if not found:
        return ""
    items = "".join(_item(each) for each in found)
    title = report.titled("Warnings", run)
    return f'<h3>{escape(title)}</h3><ul class="warnings">{items}</ul>'


def _item(warning: Warned) -> str:
    each = [
        f'<div>{escape(message)} <span class="where">({escape(_where(names))})</span></div>'
        for message, names in warning.messages.items()
    ]
    most = _AT_ONCE[warning.bad]
    first, rest = "".join(each[:most]), each[most:]
    if rest:
        first += f"<details><summary>{len(rest)} more</summary>{''.join(rest)}</details>"
    bad = ' class="bad"' if warning.bad else ""
    points = "1 point" if warning.points == 1 else f"{warning.points} points"
    return (
        f"<li{bad}><b>{escape(warning.title)}: {points}</b>{first}"
        f'<div class="remedy">{escape(warning.remedy)}</div></li>'
    )


def _where(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    shown = "; ".join(unique[:4])
    return shown if len(unique) <= 4 else f"{shown}; and {len(unique) - 4} more"
