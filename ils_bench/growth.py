"""How many entries a directory had while people were added to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ils_bench.programs import Program
from sitebench.counts.tally import Tally
from sitebench.runs.windows import Phase
from sitebench.verdict.warning import PointWarning

_GROWN = 2
"""A rate is that of a size: beyond so many times of it, that of another."""


def entries_at_ends(
    entries: int, tallies: Mapping[str, Tally], programs: Sequence[Program]
) -> dict[str, int]:
    """Return how many entries there were at both ends of the measured window."""
    more = {phase: _more(tally, programs) for phase, tally in tallies.items()}
    start = entries + more.get(Phase.RAMP, 0) + more.get(Phase.WARMUP, 0)
    return {"entries_start": start, "entries_end": start + more.get(Phase.MEASURE, 0)}


def _more(tally: Tally, programs: Sequence[Program]) -> int:
    """Return how many more entries there are since the beginning of a window."""
    added = 0
    for each in programs:
        for (program, step), totals in tally.steps.items():
            if program == each.name and step in each.adding | each.removing:
                done = totals.count - totals.failed
                added += done if step in each.adding else -done
    return added


def grown(figures: Mapping[str, Any]) -> tuple[PointWarning, ...]:
    """Warn of a directory that more than doubled while it was measured."""
    start, end = figures.get("entries_start", 0), figures.get("entries_end", 0)
    if end <= _GROWN * start:
        return ()
    return (
        PointWarning(
            "grown-directory",
            f"the directory grew from {start:,} to {end:,} entries while it was measured",
            "begin with more --entries, or reuse fewer people with --ring",
        ),
    )
