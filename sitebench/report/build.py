"""Builds the report from its sections, in the order of the questions that the sections answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from sitebench.plan.choose import on_first
from sitebench.plan.measured import tables_of
from sitebench.plan.page import planner_fragment
from sitebench.plan.suite import plan_suites
from sitebench.report.model import Report, Run
from sitebench.report.page import Section, page
from sitebench.report.sections import (
    bottlenecks,
    curves,
    facts,
    failures,
    manifest,
    objectives,
    operations,
    overtime,
    papers,
    rates,
    spectrum,
    stages,
    trust,
    verdict,
    workers,
)
from sitebench.tables.html import typeset
from sitebench.tables.markdown import plain, to_markdown
from sitebench.tables.table import Table


def _planner(report: Report) -> Section | None:
    """Return the capacity planner of the suites whose scenario these runs measured.

    The planner begins with these rates; the machines of the papers can be chosen instead.
    """
    results = [result for run in report.runs for result in run.results]
    measured = [(suite, tables_of(results, suite)) for suite in plan_suites()]
    rates = {suite.name: rates for suite, rates in measured if on_first(suite, rates)}
    if not rates:
        return None
    body, script = planner_fragment(rates)
    return Section("plan", "Capacity planner", body, scripts=(script,), short="Planner")


_SECTIONS: tuple[Callable[[Report], Section | None], ...] = (
    verdict.section,
    operations.section,
    verdict.warnings,
    rates.section,
    bottlenecks.section,
    curves.section,
    spectrum.section,
    stages.section,
    overtime.section,
    papers.section,
    failures.section,
    workers.section,
    _planner,
    manifest.section,
)

_OF_FAILURES = (failures.section, manifest.section)
"""The sections of a report without a measured point."""

_TABLES: tuple[Callable[[Report], list[Table]], ...] = (
    objectives.tables,
    operations.tables,
    stages.tables,
    bottlenecks.tables,
    papers.tables,
    failures.tables,
    workers.tables,
)


def sections(report: Report) -> list[Section]:
    builders = _SECTIONS if report.points else _OF_FAILURES
    return [section for make in builders if (section := make(report)) is not None]


def _title(report: Report) -> str:
    specs = [stored.spec for run in report.runs for stored in run.stored]
    targets = list(dict.fromkeys(spec.target for spec in specs))
    subject = " and ".join(targets) if len(targets) < 4 else f"{len(targets)} targets"
    return f"Load test of {subject}".replace("embedded", "the embedded server")


def html(report: Report, parts: Sequence[Section], title: str | None = None) -> str:
    # The user's title may not name the target, so the usual title follows it.
    lead = "" if title is None else f'<p class="facts">{escape(_title(report))}</p>'
    lead += "".join(_facts(report, run) for run in report.runs)
    files = {name: text for run in report.runs for name, text in run.downloads.items()}
    return page(title or _title(report), parts, lead, files)


def _facts(report: Report, run: Run) -> str:
    label = f"<b>{escape(run.label)}</b> " if len(report.runs) > 1 else ""
    return f'<p class="facts">{label}{typeset(facts.line(report, run))}</p>'


def markdown(report: Report, title: str | None = None) -> str:
    parts = [f"# {plain(title or _title(report))}\n"]
    for run in report.runs:
        parts.append(f"**{plain(run.label)}**: {plain(facts.line(report, run))}\n")
        parts.append(f"**{trust.stamp(run)}**: {plain(trust.sentence(run))}\n")
        parts += [_remedy(remedy) for remedy in trust.remedies(report, run)]
    parts += [to_markdown(table) for make in _TABLES for table in make(report)]
    return "\n".join(parts)


def _remedy(remedy: trust.Remedy) -> str:
    first, *rest = remedy.messages
    message = f"{first} (and {len(rest)} more of this kind)" if rest else first
    return f"- **{plain(remedy.remedy)}** ({remedy.points}): {plain(message)}\n"
