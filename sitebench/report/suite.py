"""What a suite provides for the report: titles, and the figures of its paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sitebench.report.table import Row, Table
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Of, Series


@dataclass(frozen=True)
class Printed:
    """Printed figures of the paper: one machine's rates over sizes."""

    machine: str
    sizes: Sequence[int]
    rates: Sequence[float]


@dataclass(frozen=True)
class RateFigure:
    """Operations per second against size, as Figures 1 to 4 have them, for one operation."""

    name: str
    """Also the name of the image file."""
    title: str
    operation: str
    of: Of
    printed: Sequence[Printed] = ()


@dataclass(frozen=True)
class ReportSuite:
    """One suite, as a report shows it."""

    name: str
    title: str
    size_title: str
    people: str
    """The unit of sizes: "entries" of a directory, "people" of a site."""
    rates: Sequence[RateFigure]
    """The figures of the paper; an operation without one gets a figure of its own."""
    operations: Mapping[str, str] = field(default_factory=dict)
    """Titles by operation."""
    paper_table: Callable[[Sequence[Series]], Table] | None = None
    """Lays out one operation over sizes as the paper does, with the paper's figures below."""
    bottlenecks_1997: Sequence[Table] = ()

    def title_of(self, operation: str) -> str:
        return self.operations.get(operation, operation)

    def figures(self, operations: Sequence[str]) -> list[RateFigure]:
        """Return a figure for each measured operation, the paper's own first."""
        known = [each for each in self.rates if each.operation in operations]
        others = [name for name in operations if name not in {each.operation for each in known}]
        return known + [RateFigure(name, self.title_of(name), name, ops_per_s) for name in others]


def bottlenecks(number: int, title: str, rows: Sequence[Row]) -> Table:
    """Return one of the paper's tables of bottlenecks."""
    columns = ("Resource", "Bottleneck", "Comment")
    return Table(f"1997, Table {number}: {title}", columns, rows, left=3)


def ops_per_s(result: PointResult) -> float:
    """Return the rate that a figure shows unless the suite provides another."""
    return result.ops_per_s
