"""The report from its sections, in the order of the questions they answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sitebench.report.model import Report
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
    planner,
    rates,
    spectrum,
    stages,
    verdict,
    workers,
)
from sitebench.tables.markdown import plain, to_markdown
from sitebench.tables.table import Table

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
    planner.section,
    manifest.section,
)

_OF_FAILURES = (failures.section, manifest.section)
"""All that there is to say where no point was measured."""

_TABLES: tuple[Callable[[Report], list[Table]], ...] = (
    objectives.tables,
    operations.tables,
    stages.tables,
    bottlenecks.tables,
    papers.tables,
    failures.tables,
    workers.tables,
)
"""The tables of the Markdown output."""


def sections(report: Report) -> list[Section]:
    """Return every section that has content."""
    wanted = _SECTIONS if report.points else _OF_FAILURES
    return [made for make in wanted if (made := make(report)) is not None]


def _title(report: Report) -> str:
    return ", ".join(run.label for run in report.runs)


def html(report: Report, made: Sequence[Section]) -> str:
    # Where no point was measured there is no verdict that they could stand below.
    lead = "" if report.points else "".join(facts.html(run) for run in report.runs)
    files = {name: text for run in report.runs for name, text in run.downloads.items()}
    return page(_title(report), made, lead, files)


def markdown(report: Report) -> str:
    """Return headlines, warnings and tables as Markdown."""
    parts = [f"# {plain(_title(report))}\n"]
    for run in report.runs:
        parts.append(f"**{plain(run.label)}**: {plain(verdict.headline(report, run))}\n")
        parts += [_warning(each) for each in verdict.warned(report, run)]
    parts += [to_markdown(table) for make in _TABLES for table in make(report)]
    return "\n".join(parts)


def _warning(warning: verdict.Warned) -> str:
    first, *others = warning.messages
    message = f"{first} (and {len(others)} more of this kind)" if others else first
    title = f"- **{plain(warning.title)}** ({warning.points})"
    return f"{title}: {plain(message)}. To do: {plain(warning.remedy)}.\n"
