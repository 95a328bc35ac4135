"""What a suite provides for the report: titles, and the figures of its paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from sitebench.report.charts import Chart
from sitebench.report.printed import PrintedTable, Statement, statements_table
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Of, Series
from sitebench.tables.table import Row, Table
from sitebench.units import format_size


class Printed(msgspec.Struct, frozen=True):
    """Printed figures of a paper: one machine's over sizes."""

    machine: str
    sizes: Sequence[int]
    rates: Sequence[float]


class RateFigure(msgspec.Struct, frozen=True):
    """One operation's rate, or another of its figures, against size."""

    name: str
    """Also the name of the image file."""
    title: str
    operation: str
    of: Of
    printed: Sequence[Printed] = ()
    unit: str = "operations/s"
    axis: str = "count, log"
    """The name of its axis among those of `charts`."""
    ours: Callable[[PointSpec], bool] = lambda spec: True
    """Whether it is a figure of a point, which may do what a file of the user's says."""


class Folded(msgspec.Struct, frozen=True):
    """Tables under a title; long ones are folded at first."""

    title: str
    tables: Sequence[Table]
    folded: bool = False


def besides_1997(tables: Sequence[PrintedTable], statements: Sequence[Statement]) -> Folded:
    """Return what the paper of 1997 prints besides figures of operations."""
    listed_tables = [*(table.as_printed() for table in tables), statements_table(statements)]
    return Folded("What the paper of 1997 prints besides", listed_tables, folded=True)


class ReportSuite(msgspec.Struct, frozen=True):
    name: str
    title: str
    size_title: str
    people: str
    """The unit of sizes: "entries" of a directory, "people" of a site, "clients" of a target that
    holds no people (`PointSpec.size`)."""
    rates: Sequence[RateFigure] = ()
    """The figures of the paper; an operation without one gets figures of its own."""
    figures_of: Callable[[str, str], Sequence[RateFigure]] | None = None
    """Those of an operation, by its name and title (default: its rate)."""
    operations: Mapping[str, str] = {}
    """Titles by operation."""
    paper_table: Callable[[Sequence[Series]], Table] | None = None
    """Lays out one operation over sizes as the paper does, with the paper's figures below."""
    bottlenecks_1997: Sequence[Table] = ()
    printed_1997: Sequence[Folded] = ()
    """What the paper prints besides, and what becomes of its claims."""
    charts: Callable[[Sequence[Series]], Sequence[Chart]] | None = None
    """Charts of everything of this suite in one sweep."""
    costs: Callable[[Sequence[tuple[str, Series]]], Table | None] | None = None
    """What a run's points, by name, say of the cost of one operation; None if they do not."""
    tables: Callable[[Sequence[Series]], Sequence[Folded]] | None = None
    """Tables of everything of this suite in one sweep, which several runs may be parts of."""
    printed_beside: Callable[[Sequence[Series]], Sequence[Folded]] | None = None
    """The papers' own tables of such a sweep, with today's figures beside them."""

    def title_of(self, operation: str) -> str:
        return self.operations.get(operation, operation)

    def figures(self, specs: Sequence[PointSpec]) -> list[RateFigure]:
        figures = [
            figure
            for figure in self.rates
            if any(spec.operation == figure.operation and figure.ours(spec) for spec in specs)
        ]
        names = dict.fromkeys(spec.operation for spec in specs)
        operations = [name for name in names if name not in {f.operation for f in figures}]
        make = self.figures_of or _rate_alone
        return figures + [f for name in operations for f in make(name, self.title_of(name))]

    def size_of(self, spec: PointSpec) -> str:
        return f"{format_size(spec.entries)} {self.people}" if spec.entries else spec.clients


def _rate_alone(operation: str, title: str) -> list[RateFigure]:
    return [RateFigure(operation, title, operation, ops_per_s)]


def bottlenecks(number: int, title: str, rows: Sequence[Row], *notes: str) -> Table:
    """Return one of the paper's tables of bottlenecks, with what its figures say against it."""
    columns = ("Resource", "Bottleneck", "Comment")
    return Table(f"1997, Table {number}: {title}", columns, rows, left=3, notes=notes)


def ops_per_s(result: PointResult) -> float:
    """Return the rate that a figure shows unless the suite provides another."""
    return result.ops_per_s
