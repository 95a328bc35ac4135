"""The paper's figures of a site, from the counts of a window.

"Web pages" are operations 2 and 3, each a read of the UPD. "ASP requests" are answered by a
program: pages, creates and updates, but not images (Tables 12 to 14). A page counts once, if its
main request succeeds. 100 operations are 104 requests and 95 pages, a ratio of 1.095; in the
paper's eight columns the ratio is 1.079 to 1.090.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitebench.counts.metrics import SERVICE
from sitebench.counts.source import SEQUENCE, StepTotals
from sitebench.counts.tally import Tally
from sitebench.http.mix import shares
from sitebench.runs.repeats import Of
from sitebench.scenario.script import Operation, Script


def figures(measured: Tally, scenarios: Sequence[Script]) -> dict[str, Any]:
    seconds = measured.seconds or 1.0
    pages = requests = 0
    for scenario in scenarios:
        for operation in scenario.operations:
            operations = _count_succeeded(measured, operation, operation.counts)
            changes = sum(
                _count_succeeded(measured, operation, name) for name in set(operation.changing)
            )
            # Only changes are counted if the counted step, or every step, is a change.
            only_changes = operation.counts in operation.changing or (
                operation.counts == SEQUENCE and len(operation.changing) == len(operation.steps)
            )
            requests += changes if only_changes else operations + changes
            pages += operations if operation.page else 0
    connects = measured.merge_steps(row for scenario in scenarios for row in scenario.connects)
    took = connects.clocks[SERVICE]
    return {
        "web_pages_per_s": pages / seconds,
        "asp_requests_per_s": requests / seconds,
        "upd_reads_per_s": pages / seconds,
        "connects_per_s": (connects.count - connects.failed) / seconds,
        "connect_s": took.mean / 1e9 if took.count else None,
        "mix": {scenario.name: mix(measured, scenario) for scenario in scenarios},
    }


def figure_of(name: str) -> Of:
    return lambda result: result.figures.get(name)


def mix(measured: Tally, scenario: Script) -> dict[str, dict[str, float]]:
    operations = scenario.operations
    return shares(
        {op.name: _totals(measured, op, op.counts).count for op in operations},
        {op.name: op.weight for op in operations},
    )


def _totals(measured: Tally, operation: Operation, step: str) -> StepTotals:
    return measured.steps.get((operation.name, step)) or StepTotals(operation.name, step)


def _count_succeeded(measured: Tally, operation: Operation, step: str) -> int:
    totals = _totals(measured, operation, step)
    return totals.count - totals.failed
