"""Terminal tables of a sweep over clients."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group

from sitebench.runs.point import PointResult
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.tables import latency_table


def tables(results: Sequence[PointResult]) -> list[Group]:
    return [latency_table(results), *bottleneck_tables(results)]
