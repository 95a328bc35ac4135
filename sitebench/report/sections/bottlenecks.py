"""What was the bottleneck: Tables 10, 11, 15 and 16 of the paper, for every point of today."""

from __future__ import annotations

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.report.paper import why
from sitebench.report.table import Cell, Mark, Row, Table
from sitebench.runs.repeats import Series
from sitebench.tables.bottlenecks import TITLES, WORDS, worst_findings
from sitebench.verdict.finding import Finding, Grade

_MARKS = {
    Grade.PRIMARY: Mark.PRIMARY,
    Grade.POSSIBLE: Mark.POSSIBLE,
    Grade.NO: Mark.NO,
    Grade.UNKNOWN: Mark.UNKNOWN,
}


def tables(report: Report) -> list[Table]:
    """Return one table per run: points down, resources across."""
    return [_overview(report, run) for run in report.runs]


def section(report: Report) -> Section | None:
    """Return the tables, the evidence of every point, and what 1997 found."""
    parts = []
    for run, table in zip(report.runs, tables(report), strict=True):
        parts.append(table.to_html())
        inside = "".join(_comments(report, run, each).to_html() for each in run.series)
        parts.append(f"<details><summary>Evidence for each point</summary>{inside}</details>")
    for suite in report.present:
        printed = "".join(each.to_html() for each in suite.bottlenecks_1997)
        if printed:
            title = f"What the paper found in 1997 ({suite.title.lower()})"
            parts.append(f"<details><summary>{title}</summary>{printed}</details>")
    return Section("bottlenecks", "What held it back", "".join(parts), short="Bottlenecks")


def _overview(report: Report, run: Run) -> Table:
    rows: list[Row] = [
        [report.distinct_name(each.spec, run), *_grades(each), _bound(each)] for each in run.series
    ]
    columns = ("Point", *TITLES.values(), "Verdict")
    return Table(report.titled("Bottlenecks", run), columns, rows, left=len(columns))


def _grades(each: Series) -> list[Cell]:
    found = worst_findings(each)
    return [_cell(found.get(resource)) for resource in TITLES]


def _cell(finding: Finding | None) -> Cell:
    if finding is None:
        return Cell(WORDS[Grade.UNKNOWN], Mark.UNKNOWN, "this run file does not say")
    grade = Grade(finding.grade)
    return Cell(WORDS[grade], _MARKS[grade], finding.evidence)


def _bound(each: Series) -> Cell:
    verdicts = {r.verdict.bound: r.verdict for r in each.results}
    evidence = "; ".join(dict.fromkeys(v.evidence for v in verdicts.values()))
    mark = Mark.PLAIN if each.valid else Mark.INVALID
    return Cell(", ".join(verdicts), mark, why(each) or evidence)


def _comments(report: Report, run: Run, each: Series) -> Table:
    """Return the paper's table of one point: resource, bottleneck, comment."""
    found = worst_findings(each)
    rows = []
    for resource, title in TITLES.items():
        finding = found.get(resource)
        cell = _cell(finding)
        rows.append((title, Cell(cell.text, cell.mark), finding.evidence if finding else cell.why))
    evidence = "; ".join(dict.fromkeys(r.verdict.evidence for r in each.results))
    return Table(
        report.distinct_name(each.spec, run),
        ("Resource", "Bottleneck", "Comment"),
        rows,
        left=3,
        notes=[f"Verdict: {_bound(each).text}: {evidence}"],
    )
