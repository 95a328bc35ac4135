"""A report out of its sections, in the order in which they answer questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from sitebench.report.model import Report, Run
from sitebench.report.page import Section, page
from sitebench.report.sections import (
    bottlenecks,
    curves,
    failures,
    manifest,
    operations,
    overtime,
    papers,
    planner,
    rates,
    spectrum,
    verdict,
    workers,
)
from sitebench.report.table import Table, plain

SECTIONS: tuple[Callable[[Report], Section | None], ...] = (
    verdict.section,
    rates.section,
    bottlenecks.section,
    curves.section,
    spectrum.section,
    overtime.section,
    papers.section,
    operations.section,
    failures.section,
    workers.section,
    planner.section,
    manifest.section,
)

TABLES: tuple[Callable[[Report], list[Table]], ...] = (
    bottlenecks.tables,
    papers.tables,
    operations.tables,
    failures.tables,
    workers.tables,
)
"""What there is as Markdown."""


def sections(report: Report) -> list[Section]:
    """Return every section that has something to say."""
    return [made for make in SECTIONS if (made := make(report)) is not None]


def title(report: Report) -> str:
    """Return what the page is called: by its runs and by what they measured."""
    return ", ".join(run.label for run in report.runs)


def lead(report: Report) -> str:
    """Return on what machine, when, and from which command each run came."""
    return "".join(f'<p class="facts">{escape(_facts(run))}</p>' for run in report.runs)


def _facts(run: Run) -> str:
    manifest = run.manifest
    cpu = manifest.get("cpu") or {}
    target = manifest.get("target")
    facts = [
        f"target {target}" if target else "",
        f"{cpu.get('model')}, {cpu.get('usable')} cores" if cpu else "",
        str(manifest.get("kernel") or ""),
        str(manifest.get("started") or ""),
        f"{len(run.points)} points",
    ]
    return f"{run.label}: " + "; ".join(filter(None, facts))


def html(report: Report, made: Sequence[Section]) -> str:
    """Return the page."""
    return page(title(report), made, lead(report))


def markdown(report: Report) -> str:
    """Return headlines, warnings and tables as Markdown."""
    parts = [f"# {plain(title(report))}\n"]
    for run in report.runs:
        parts.append(f"**{plain(run.label)}**: {plain(verdict.headline(report, run))}\n")
        parts += [_warning(each) for each in verdict.warned(report, run)]
    parts += [table.to_markdown() for make in TABLES for table in make(report)]
    return "\n".join(parts)


def _warning(warning: verdict.Warned) -> str:
    first, *others = warning.said
    said = f"{first} (and {len(others)} more of the kind)" if others else first
    title = f"- **{plain(warning.title)}** ({warning.points})"
    return f"{title}: {plain(said)}. {plain(warning.remedy)}.\n"
