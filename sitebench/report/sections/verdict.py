"""The first section: the result, its reliability, and the next step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from sitebench.report.model import Report, Run, is_open, rate_of
from sitebench.report.page import Section, figure
from sitebench.report.sections import objectives, overview, trust
from sitebench.report.suite import ReportSuite
from sitebench.runs.repeats import Series
from sitebench.tables.html import typeset
from sitebench.tables.table import NOTHING
from sitebench.tables.tables import latency_mark, rate_mark
from sitebench.units import plural
from sitebench.verdict.verdict import Bound, Quoted

_AT_ONCE = {True: 3, False: 1}
"""The number of remedies that are not folded: of unusable points (True), of others (False)."""


def section(report: Report) -> Section | None:
    several = len(report.runs) > 1
    body = "".join(_trust(report, run, several=several) for run in report.runs)
    cards = "".join(_card(report, suite) for suite in report.present)
    # A search without an answer has no bars.
    charts = tuple(
        chart for chart in (overview.chart(report),) if chart.choices[""]["bars"]["rate"]
    )
    body += f'<div class="cards">{cards}</div>{"".join(map(figure, charts))}'
    return Section("verdict", "Verdict", body, charts)


def _trust(report: Report, run: Run, *, several: bool) -> str:
    words = trust.stamp(run)
    label = f"<b>{escape(run.label)}</b> " if several else ""
    return (
        f'<p class="headline">{label}<span class="stamp {trust.STAMPS[words]}">{words}</span> '
        f"{escape(trust.sentence(run))}</p>"
        f'<p class="next"><b>Next step:</b> {escape(trust.next_step(report, run))}</p>'
    )


def _card(report: Report, suite: ReportSuite) -> str:
    rows = "".join(
        f"<div><dt>{escape(f'{title}, {run.label}' if len(runs) > 1 else title)}</dt>"
        f"<dd><b>{typeset(rate)}</b><small>{typeset('; '.join(remarks))}</small></dd></div>"
        for operation in report.operations(suite)
        for title, runs in [(suite.title_of(operation), report.runs_of(suite, operation))]
        for run in runs
        for rate, remarks in (*_searches(run, suite, operation), *_best(run, suite, operation))
    )
    return f'<div class="card"><h3>{escape(suite.title)}</h3><dl>{rows}</dl></div>'


def _searches(run: Run, suite: ReportSuite, operation: str) -> Iterator[tuple[str, list[str]]]:
    for peak in run.searches(suite.name, operation):
        best = next((series for series in run.series if run.found_at(series) is peak), None)
        if best is None or peak.get("rate") is None:
            yield NOTHING, [f"no rate found with {peak['objective']}: {peak['said']}"]
            continue
        remark = "the server's own limit is not known"
        if not is_open(peak):
            remark = f"held {peak['seen']['held']} of {peak['seen']['held_of']} times"
        condition = f"with {peak['objective']} ({remark})"
        yield rate_of(peak)[1], [condition, *_remarks(run, suite, best)]


def _best(run: Run, suite: ReportSuite, operation: str) -> Iterator[tuple[str, list[str]]]:
    """Yield an operation's highest usable rate, without the points of searches."""
    measured = [
        series
        for series in run.series
        if (series.spec.suite, series.spec.operation) == (suite.name, operation)
        and not (run.probes(series) or run.found_at(series))
    ]
    usable = [series for series in measured if series.usable]
    if usable:
        best = max(usable, key=overview.rate)
        yield f"{rate_mark(best).replace('>=', 'at least')}/s", _remarks(run, suite, best)
    elif measured:
        yield str(Quoted.NOT_USABLE), []


def _remarks(run: Run, suite: ReportSuite, series: Series) -> list[str]:
    """Return the lines below a rate: size, latency, objectives and failures."""
    latency = ", ".join(f"{name} {latency_mark(series, name)}" for name in ("p95", "p99"))
    if not series.valid:
        disturbed = {result.verdict.bound for result in series.results} == {Bound.OTHERS}
        delays = "waits for other programs" if disturbed else "delays of the load generator"
        latency = f"latency not known: {delays} are in it"
    failed = [f"{series.failures:,} failed"] if series.failures else []
    return [f"{suite.size_of(series.spec)}: {latency}", *objectives.in_words(run, series), *failed]


def warnings(report: Report) -> Section | None:
    body = "".join(_warnings(report, run) for run in report.runs)
    return Section("warnings", "What to do", body) if body else None


def _warnings(report: Report, run: Run) -> str:
    items = "".join(_item(remedy, run) for remedy in trust.remedies(report, run))
    heading = f"<h3>{escape(run.label)}</h3>" if items and len(report.runs) > 1 else ""
    return f'{heading}<ul class="warnings">{items}</ul>' if items else ""


def _item(remedy: trust.Remedy, run: Run) -> str:
    messages = [
        f'<div>{typeset(message)} <span class="where">({escape(_places(names))})</span></div>'
        for message, names in remedy.messages.items()
    ]
    limit = _AT_ONCE[remedy.bad]
    first, rest = "".join(messages[:limit]), messages[limit:]
    if rest:
        first += f"<details><summary>{len(rest)} more</summary>{''.join(rest)}</details>"
    bad = ' class="bad"' if remedy.bad else ""
    unit = "point" if len(run.points) == len(run.series) else "measurement"
    points = plural(remedy.points, unit)
    text = f"{remedy.remedy[:1].upper()}{remedy.remedy[1:]}"
    return f"<li{bad}><b>{escape(text)} ({points})</b>{first}</li>"


def _places(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    text = "; ".join(unique[:4])
    return text if len(unique) <= 4 else f"{text}; and {len(unique) - 4} more"
