"""What a suite tells the report about itself: its titles, and what its papers printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sitebench.report.table import Table
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Of, Series


@dataclass(frozen=True)
class Printed:
    """What a paper printed: one machine's rates over sizes."""

    machine: str
    sizes: Sequence[int]
    rates: Sequence[float]


@dataclass(frozen=True)
class RateFigure:
    """Operations per second against size, as Figures 1 to 4 have them, for one operation."""

    name: str
    """Names the image's file too."""
    title: str
    operation: str
    of: Of
    printed: Sequence[Printed] = ()


@dataclass(frozen=True)
class ReportSuite:
    """One half of sitebench, as far as a report cares."""

    name: str
    title: str
    size_title: str
    people: str
    """What the sizes count: "entries" of a directory, "people" of a site."""
    rates: Sequence[RateFigure]
    """The figures the papers have; an operation without one gets one of its own."""
    operations: Mapping[str, str] = field(default_factory=dict)
    """Titles by operation."""
    paper_table: Callable[[Sequence[Series]], Table] | None = None
    """Lays out one operation over sizes as the paper did, with the paper's figures beneath."""
    bottlenecks_1997: Sequence[Table] = ()

    def title_of(self, operation: str) -> str:
        """Return what an operation is called in titles."""
        return self.operations.get(operation, operation)

    def figures(self, operations: Sequence[str]) -> list[RateFigure]:
        """Return a figure for each operation that was measured, the papers' own first."""
        known = [each for each in self.rates if each.operation in operations]
        others = [name for name in operations if name not in {each.operation for each in known}]
        return known + [RateFigure(name, self.title_of(name), name, ops_per_s) for name in others]


def ops_per_s(result: PointResult) -> float:
    """Return the rate that a figure shows unless the suite knows a better one."""
    return result.ops_per_s
