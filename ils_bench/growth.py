"""Warnings of a directory that grew in the measured window, and of added entries that remain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ils_bench.targets.clean import KEYS_OF_A_THREAD, Added
from sitebench.counts.tally import Tally
from sitebench.runs.point import PointSpec
from sitebench.runs.windows import Phase, Windows
from sitebench.scenario.script import Script
from sitebench.system.machine import MOST_THREADS, engine_threads
from sitebench.verdict.warning import PointWarning, WarningKind

_Row = tuple[str, str]
_GROWN = 2
"""Growth of the directory, as a factor, above which the point has a warning."""


def entries_at_ends(
    entries: int, tallies: Mapping[str, Tally], programs: Sequence[Script]
) -> dict[str, int]:
    added = {row for program in programs for row in program.adding}
    removed = {row for program in programs for row in program.removing}
    growth = {phase: _surplus(tally, added, removed) for phase, tally in tallies.items()}
    start = entries + growth.get(Phase.RAMP, 0) + growth.get(Phase.WARMUP, 0)
    return {"entries_start": start, "entries_end": start + growth.get(Phase.MEASURE, 0)}


def count_added(
    windows: Windows | None, programs: Sequence[Script], threads: int | None
) -> Added | None:
    if windows is None:
        return Added(0, 0, 0)
    if any(worker.ended or worker.missing for worker in windows.workers):
        return None
    # Locust workers choose their numbers of threads, so the largest possible number is assumed.
    default = MOST_THREADS if windows.workers else engine_threads(None)
    gap = KEYS_OF_A_THREAD * (threads or default)
    rows = {row for program in programs for row in program.adding}
    tallies = windows.tallies.values()
    steps = [step for tally in tallies for row, step in tally.steps.items() if row in rows]
    # An add with an error result had no effect (RFC 4511 4.1.9).
    refused = sum(n for s in steps for k, n in s.failures.items() if k.startswith("result:"))
    keys = sum(step.count for step in steps)
    return Added(keys, keys - refused, gap)


def warn_of_growth(figures: Mapping[str, Any]) -> tuple[PointWarning, ...]:
    start, end = figures.get("entries_start", 0), figures.get("entries_end", 0)
    if end <= _GROWN * start:
        return ()
    return (
        PointWarning(
            WarningKind.GROWN_DIRECTORY,
            f"the directory grew from {start:,} to {end:,} entries while it was measured",
            "begin with more --entries",
        ),
    )


def warn_of_leftovers(
    spec: PointSpec, programs: Sequence[Script], tallies: Mapping[str, Tally]
) -> tuple[PointWarning, ...]:
    """Warn of added entries that a scenario did not delete.

    A test can end between an add and its delete, so one entry per user causes no warning.
    """
    warnings = []
    for script in programs:
        for operation in script.operations:
            if operation.keeps or operation.adding:
                continue
            added, removed = (
                {(operation.name, name) for name, verb in operation.steps if verb == changing}
                for changing in ("add", "delete")
            )
            surplus = sum(_surplus(tally, added, removed) for tally in tallies.values())
            if surplus > spec.users:
                warnings.append(
                    PointWarning(
                        WarningKind.ENTRIES_LEFT,
                        f"{surplus:,} entries that {operation.name} added were not deleted again",
                        "delete them, and see why its delete fails: --check shows what came of it",
                    )
                )
    return tuple(warnings)


def _surplus(tally: Tally, added: Set[_Row], removed: Set[_Row]) -> int:
    """Return the number of successful adds minus that of removals, by their rows."""
    return sum(
        ((row in added) - (row in removed)) * (totals.count - totals.failed)
        for row, totals in tally.steps.items()
    )
