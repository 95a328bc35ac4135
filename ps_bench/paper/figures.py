"""The paper's figures of a site, from what the lanes counted.

"Web pages" are its operations 2 and 3, of which each is a read of the UPD; "ASP requests" are all
that a program answers: pages, creates and updates, and not the images (Tables 12 to 14). A page
counts once, when its main request has succeeded. Of 100 operations that is 104 requests and 95
pages, a ratio of 1.095; in the paper's eight columns it is 1.079 to 1.090.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sitebench.counts.metrics import SERVICE
from sitebench.counts.source import SEQUENCE, StepTotals
from sitebench.counts.tally import Tally
from sitebench.runs.repeats import Of
from sitebench.scenario.script import Operation, Script


def figures(measured: Tally, scenarios: Sequence[Script]) -> dict[str, Any]:
    """Return the paper's figures of a window, and its mix of operations."""
    seconds = measured.seconds or 1.0
    pages = requests = 0
    for scenario in scenarios:
        for each in scenario.operations:
            done = _done(measured, each, each.counts)
            changes = sum(_done(measured, each, name) for name in set(each.changing))
            # A pass that only changes something is its changes.
            others = each.counts in each.changing or (
                each.counts == SEQUENCE and len(each.changing) == len(each.steps)
            )
            requests += changes if others else done + changes
            pages += done if each.page else 0
    connects = measured.counted(row for scenario in scenarios for row in scenario.connects)
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
    """Return a getter for one of these figures."""
    return lambda result: result.figures.get(name)


def mix(measured: Tally, scenario: Script) -> dict[str, dict[str, float]]:
    """Return each operation's count, its share in percent, and its share in the scenario."""
    counts = {each.name: _totals(measured, each, each.counts).count for each in scenario.operations}
    total, cards = sum(counts.values()), sum(each.weight for each in scenario.operations)
    return {
        each.name: {
            "count": counts[each.name],
            "percent": 100.0 * counts[each.name] / total if total else 0.0,
            "asked_percent": 100.0 * each.weight / cards,
        }
        for each in scenario.operations
    }


def off_by(found: Mapping[str, Mapping[str, float]]) -> float:
    """Return by how many operations a mix is off; unfinished decks at the bounds explain a few."""
    total = sum(each["count"] for each in found.values())
    return max(
        (abs(each["count"] - total * each["asked_percent"] / 100.0) for each in found.values()),
        default=0.0,
    )


def _totals(measured: Tally, operation: Operation, step: str) -> StepTotals:
    return measured.steps.get((operation.name, step)) or StepTotals(operation.name, step)


def _done(measured: Tally, operation: Operation, step: str) -> int:
    """Return how often it was done right."""
    totals = _totals(measured, operation, step)
    return totals.count - totals.failed
