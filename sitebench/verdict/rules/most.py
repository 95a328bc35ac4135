"""The most that the target can do: where its CPU would be used up (the utilisation law).

    X <= cores / (CPU seconds per operation)

An operation does not cost the same at any load. A target with little to do sleeps and wakes for
each operation, on cold caches; a busy one finds the next request waiting. Measured from nearly
idle to used up, an operation came down from 159 to 91 us (slapd), 98 to 34 us (the embedded site)
and 28 to 9 us (the embedded directory). So the cost is taken to fall further, to less than a
third for a target that was nearly idle, and in proportion to its idle time for any other. Where it
does not fall, or rises, the target does less than this bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.units import format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.wording import cores, share

_CHEAPER = 2.4
"""How many times more an idle target did for the same CPU once it was busy, at most: 1 + this.

So that 28 us at `_LEAST_USED` may become 9."""

_LEAST_USED = 0.10
"""A target that used less of its CPU was hardly asked anything: its cost says nothing."""


@dataclass(frozen=True)
class Most:
    """An upper bound of the rate, and how it comes about."""

    per_s: float
    message: str


def most(window: Evidence) -> Most | None:
    """Return the most that the target can do; None where its cost per operation is not known."""
    used, cpu_s = window.target_share, window.use.target_cpu_s
    # The CPU of failed operations is in the sum, and without its cores there is no ceiling.
    if used is None or not cpu_s or window.target_cores is None or window.failed:
        return None
    if used < _LEAST_USED:
        return None
    idle = max(0.0, 1.0 - used)
    cost_s = cpu_s / window.operations
    least_s = cost_s / (1.0 + _CHEAPER * idle)
    measured, then = format_ns(cost_s * 1e9), format_ns(least_s * 1e9)
    allowed = f"its {cores(window.ceiling)} would be used up"
    message = f"{allowed} at {then} of CPU an operation: {measured} with {share(idle)} idle"
    # A window's CPU is read a little after its operations: it may be more than there is.
    return Most(max(window.ceiling / least_s, window.operations / window.seconds), message)
