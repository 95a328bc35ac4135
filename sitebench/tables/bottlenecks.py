"""What the bottleneck was, in the form of the papers' Tables 10, 11, 15 and 16.

One point has the paper's table: resource, bottleneck, comments. Several have a column each, with
their evidence below. Of repeats, the worst grade is shown, and Primary if more than half have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, series
from sitebench.tables.tables import (
    bounds,
    needs_footnote,
    new_table,
    of_operation,
    titled,
)
from sitebench.units import format_size, plural
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
"""The paper's words, and one for what it did not have: worst first."""

_STYLES: dict[str, str] = {
    Grade.PRIMARY: "bold",
    Grade.TAKEN: "red",
    Grade.POSSIBLE: "yellow",
    Grade.UNKNOWN: "dim",
}
_MOST_COLUMNS = 6
"""More points have a row each: a terminal is no wider."""

_BRIEFLY = "?"
"""Not enough information, in a narrow column."""


def findings_of(each: Series) -> dict[str, Finding]:
    """Return one finding per resource: the worst over repeats, but Primary only of more than half.

    One repeat of six may be wrong; what held back most of them is what held back the point.
    """
    order = list(WORDS)
    found: dict[str, Finding] = {}
    for resource in TITLES:
        repeats = [f for r in each.results for f in r.verdict.findings if f.resource == resource]
        if not repeats:
            continue
        worst = min(repeats, key=lambda finding: order.index(finding.grade))
        same = sum(finding.grade == worst.grade for finding in repeats)
        if worst.grade == Grade.PRIMARY and same * 2 <= len(repeats):
            evidence = f"{same} of {len(repeats)} repeats: {worst.evidence}"
            worst = Finding(resource, Grade.POSSIBLE, evidence)
        found[resource] = worst
    return found


def bottleneck_tables(results: Sequence[PointResult]) -> list[Group]:
    """Return the tables of all points: with comments for one, one per operation for several."""
    found = [each for each in series(results) if findings_of(each)]
    if len(found) == 1:
        return [_commented(found[0])]
    operations = dict.fromkeys(each.spec.operation for each in found)
    return [_of_points(name, of_operation(results, name)) for name in operations]


def _commented(each: Series) -> Group:
    table = new_table("Resource", "Bottleneck", "Comments", left=3)
    found = findings_of(each)
    for resource, title in TITLES.items():
        if resource in found:
            grade = found[resource].grade
            table.add_row(title, _word(grade), Text(found[resource].evidence))
    # The reason that a point is invalid is a footnote below every table.
    why = _verdicts(each) if each.valid else f"{each.grade}, see * below"
    table.add_row("[bold]Verdict[/]", bounds(each), Text(why))
    return titled(f"Bottlenecks: {each.spec.title} ({each.spec.target})", table)


def _of_points(operation: str, found: Sequence[Series]) -> Group:
    worst = [findings_of(each) for each in found]
    rows: list[list[str | Text]] = [["Resource", *(_column(each, found) for each in found)]]
    for resource, title in TITLES.items():
        grades = [each[resource].grade if resource in each else Grade.UNKNOWN for each in worst]
        rows.append([title, *(_word(grade, brief=True) for grade in grades)])
    rows.append(["[bold]Verdict[/]", *(bounds(each) for each in found)])
    if len(found) > _MOST_COLUMNS:
        rows = [["Point", *(str(row[0]) for row in rows[1:])], *_transposed(rows)[1:]]
    table = new_table(*map(str, rows[0]))
    for row in rows[1:]:
        table.add_row(*row)
    lines: list[RenderableType] = [
        Text(f"{_column(each, found)}: {_verdicts(each)}", style="dim")
        for each in found
        # The reason that a point is invalid is a footnote below every table.
        if not any(map(needs_footnote, each.results))
    ]
    if any(finding.grade == Grade.UNKNOWN for each in worst for finding in each.values()):
        lines.append(Text(f"{_BRIEFLY}: {WORDS[Grade.UNKNOWN].lower()}", style="dim"))
    target = found[0].spec.target
    return Group(titled(f"Bottlenecks: {operation} ({target})", table), *lines)


def _transposed(rows: Sequence[Sequence[str | Text]]) -> list[list[str | Text]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _column(each: Series, among: Sequence[Series]) -> str:
    """Return what distinguishes a point from the others of its operation."""
    size = format_size(each.spec.size) + each.spec.variant
    alike = [each.spec.size, each.spec.variant]
    if sum([other.spec.size, other.spec.variant] == alike for other in among) == 1:
        return size
    load = plural(each.spec.users, "user") if each.spec.rate is None else f"{each.spec.rate:,.0f}/s"
    if each.spec.stages is not None:
        load = each.spec.stages.name
    return f"{size}, {load}"


def _word(grade: str, *, brief: bool = False) -> Text:
    word = _BRIEFLY if brief and grade == Grade.UNKNOWN else WORDS.get(grade, grade)
    return Text(word, style=_STYLES.get(grade, ""))


def _verdicts(each: Series) -> str:
    """Return the evidence of each different verdict among the repeats."""
    found = {result.verdict.bound: result.verdict.evidence for result in each.results}
    if len(found) == 1:
        return next(iter(found.values()))
    return "; ".join(f"{bound}: {evidence}" for bound, evidence in found.items())
