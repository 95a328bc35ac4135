"""A suite's part of a report: titles, and the figures of its papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from sitebench.report.charts import Chart
from sitebench.report.printed import Paper1997, statements_table
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Of, Series
from sitebench.tables.table import Row, Table
from sitebench.tables.tables import ops_per_s
from sitebench.units import format_size


class Printed(msgspec.Struct, frozen=True):
    machine: str
    sizes: Sequence[int]
    rates: Sequence[float]


class RateFigure(msgspec.Struct, frozen=True):
    """A chart over size: of an operation's rate, or of another figure of the operation."""

    name: str
    title: str
    operation: str
    of: Of
    printed: Sequence[Printed] = ()
    unit: str = "operations/s"
    axis: str = "count, log"
    """A key of `charts.AXES`."""
    ours: Callable[[PointSpec], bool] = lambda spec: True
    """Whether the chart shows a point; some charts leave out points of scenario files."""


class Folded(msgspec.Struct, frozen=True):
    """Tables under a title, which a click unfolds if `folded`."""

    title: str
    tables: Sequence[Table]
    folded: bool = False


def besides_1997(paper: Paper1997) -> Folded:
    """Return the tables and statements of the paper of 1997 that are not figures of operations."""
    printed_tables = (table.as_printed() for table in paper.printed)
    listed_tables = [*printed_tables, statements_table(paper.statements)]
    return Folded("Further figures of the paper of 1997", listed_tables, folded=True)


class ReportSuite(msgspec.Struct, frozen=True):
    name: str
    title: str
    size_title: str
    people: str
    """The unit of sizes: "entries" of a directory, "people" of a site, "clients" of a target
    without people (`PointSpec.size`)."""
    rates: Sequence[RateFigure] = ()
    """The charts of the paper; other operations have the charts of `figures_of`."""
    figures_of: Callable[[str, str], Sequence[RateFigure]] | None = None
    """Charts of an operation, from its name and title (default: its rate)."""
    operations: Mapping[str, str] = {}
    """Titles by operation."""
    paper_table: Callable[[Sequence[Series]], Table] | None = None
    """One operation over sizes, laid out as in the paper, with the paper's figures below."""
    bottlenecks_1997: Sequence[Table] = ()
    printed_1997: Sequence[Folded] = ()
    """Tables and statements of the paper that are not figures of operations."""
    charts: Callable[[Sequence[Series]], Sequence[Chart]] | None = None
    """Charts of all points of one sweep."""
    costs: Callable[[Sequence[tuple[str, Series]]], Table | None] | None = None
    """A table of the cost of one operation, from named points; None without such figures."""
    tables: Callable[[Sequence[Series]], Sequence[Folded]] | None = None
    """Tables of all points of one sweep, whose parts may be in several runs."""
    printed_beside: Callable[[Sequence[Series]], Sequence[Folded]] | None = None
    """The papers' tables with the figures of a sweep beside them."""

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
    """Return a table of bottlenecks as printed; `notes` name figures that contradict the table."""
    columns = ("Resource", "Bottleneck", "Comment")
    return Table(f"1997, Table {number}: {title}", columns, rows, left=3, notes=notes)
