"""Bottlenecks, in the form of the papers' Tables 10, 11, 15 and 16."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, series
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.tables.tables import marked, needs_footnote, of_operation
from sitebench.units import format_size
from sitebench.verdict.finding import Finding, Grade, Resource

TITLES: dict[str, str] = {
    Resource.CPU: "CPU",
    Resource.NETWORK: "Network",
    Resource.MEMORY: "Memory",
    Resource.OPERATING_SYSTEM: "Operating System",
    Resource.SOFTWARE: "Software",
    Resource.DISK: "Disk Subsystem",
}

WORDS: dict[str, str] = {
    Grade.PRIMARY: "Primary",
    Grade.TAKEN: "Taken by others",
    Grade.POSSIBLE: "Possible",
    Grade.NO: "No",
    Grade.UNKNOWN: "Not enough information",
}
"""The words for grades, worst first: all are the paper's words, except Taken by others."""

_MOST_COLUMNS = 6
"""On a terminal, up to so many points have a column each; more points have a row each."""
_BRIEFLY = "?"
"""The sign for "Not enough information" in a narrow column."""


def findings_of(point: Series) -> dict[str, Finding]:
    """Return the worst finding per resource; Primary needs more than half of the repeats."""
    order = list(WORDS)
    findings: dict[str, Finding] = {}
    for resource in TITLES:
        repeats = [f for r in point.results for f in r.verdict.findings if f.resource == resource]
        if not repeats:
            continue
        worst = min(repeats, key=lambda finding: order.index(finding.grade))
        same = sum(finding.grade == worst.grade for finding in repeats)
        if worst.grade == Grade.PRIMARY and same * 2 <= len(repeats):
            evidence = f"{same} of {len(repeats)} repeats: {worst.evidence}"
            worst = Finding(resource, Grade.POSSIBLE, evidence)
        findings[resource] = worst
    return findings


def bottleneck_tables(results: Sequence[PointResult]) -> list[Table]:
    """Return the comments on a single point; for several points, a table per operation.

    If there are few points, each has a column, as a terminal is narrow.
    """
    points = [point for point in series(results) if findings_of(point)]
    if len(points) == 1:
        (point,) = points
        return [comments(f"Bottlenecks: {point.spec.title} ({point.spec.target})", point)]
    tables = []
    for operation in dict.fromkeys(point.spec.operation for point in points):
        same = of_operation(results, operation)
        columns_of_points = [(_column(point, same), point) for point in same]
        title = f"Bottlenecks: {operation} ({same[0].spec.target})"
        table = overview(title, columns_of_points, unknown=_BRIEFLY)
        notes = [
            f"{name}: {_evidence(point)}"
            for name, point in columns_of_points
            # The reason of an invalid point is a footnote below all tables.
            if not any(map(needs_footnote, point.results))
        ]
        if any(finding.grade == Grade.UNKNOWN for p in same for finding in findings_of(p).values()):
            notes.append(f"{_BRIEFLY}: {WORDS[Grade.UNKNOWN].lower()}")
        if len(columns_of_points) <= _MOST_COLUMNS:
            names, *columns = zip(*table.rows, strict=True)
            rows = [[n, *cells] for n, cells in zip(table.columns[1:], columns, strict=True)]
            table = Table(title, ["Resource", *map(str, names)], rows)
        tables.append(structs.replace(table, notes=notes))
    return tables


def overview(
    title: str, points: Sequence[tuple[str, Series]], *, unknown: str = WORDS[Grade.UNKNOWN]
) -> Table:
    rows: list[Row] = []
    for name, point in points:
        findings = findings_of(point)
        grades = (_grade(findings.get(resource), unknown) for resource in TITLES)
        rows.append([name, *grades, _verdict(point)])
    columns = ("Point", *TITLES.values(), "Verdict")
    return Table(title, columns, rows, left=len(columns))


def comments(title: str, point: Series) -> Table:
    findings = findings_of(point)
    rows: list[Row] = [
        [name, _grade(finding, WORDS[Grade.UNKNOWN]), finding.evidence]
        for resource, name in TITLES.items()
        if (finding := findings.get(resource)) is not None
    ]
    rows.append([Cell("Verdict", Mark.PRIMARY), _verdict(point), _evidence(point)])
    return Table(title, ("Resource", "Bottleneck", "Comments"), rows, left=3)


def _grade(finding: Finding | None, unknown: str) -> Cell:
    if finding is None:
        return Cell(unknown, Mark.UNKNOWN, "this run file does not say")
    text = unknown if finding.grade == Grade.UNKNOWN else WORDS[finding.grade]
    return Cell(text, Mark(finding.grade), finding.evidence)


def _verdict(point: Series) -> Cell:
    cell = marked(point, ", ".join(dict.fromkeys(r.verdict.bound for r in point.results)))
    return cell if isinstance(cell, Cell) else Cell(cell, Mark.PLAIN, _evidence(point))


def _column(point: Series, among: Sequence[Series]) -> str:
    """Return the name that distinguishes a point from the others of its operation."""
    size = format_size(point.spec.size) + point.spec.variant
    identity = [point.spec.size, point.spec.variant]
    if sum([other.spec.size, other.spec.variant] == identity for other in among) == 1:
        return size
    return f"{size}, {point.spec.load}"


def _evidence(point: Series) -> str:
    """Return the evidence of each different verdict among the repeats."""
    evidence = {result.verdict.bound: result.verdict.evidence for result in point.results}
    if len(evidence) == 1:
        return next(iter(evidence.values()))
    return "; ".join(f"{bound}: {words}" for bound, words in evidence.items())
