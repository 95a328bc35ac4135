"""The most that the target can do: where its CPU would be used up (the utilisation law).

    X <= cores / (CPU seconds per operation)

An operation does not cost the same at any load. A target with little to do sleeps and wakes for
each operation, on cold caches; a busy one finds the next request waiting. Measured from nearly
idle to used up, an operation came down from 159 to 91 us (slapd), 98 to 34 us (the embedded site)
and 28 to 9 us (the embedded directory). So the cost is taken to fall further, to less than a
third for a target that was nearly idle, and in proportion to its idle time for any other. Where it
does not fall, or rises, the target does less than this bound.

Where the same target was measured at another load too, how fast the cost fell between the two is
known. If it fell faster than that, it is taken to go on so, as a power of the share of its CPU that
is used: from 50 us at 30 % to 25 us at 60 % it fell as 1 / share, and is 15 us at 100 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import msgspec

from sitebench.units import format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.thresholds import BEYOND
from sitebench.verdict.rules.wording import cores, share

_CHEAPER = 2.4
"""How many times more an idle target did for the same CPU once it was busy, at most: 1 + this.

So that 28 us at `_LEAST_USED` may become 9."""

_LEAST_USED = 0.10
"""A target that used less of its CPU was hardly asked anything: its cost says nothing."""

_APART = 1.5
"""Of two loads that are less apart, by the CPU used, the difference in cost may be noise."""


class Most(msgspec.Struct, frozen=True):
    """An upper bound of the rate, and how it comes about."""

    per_s: float
    message: str


def upper_bound(window: Evidence) -> Most | None:
    """Return the most that the target can do; None where its cost per operation is not known."""
    used_share, cpu_s = window.target_share, window.use.target_cpu_s
    # The CPU of failed operations is in the sum, and without its cores there is no ceiling.
    if used_share is None or not cpu_s or window.target_cores is None or window.failures:
        return None
    if not _LEAST_USED <= used_share <= BEYOND:
        return None
    idle = max(0.0, 1.0 - used_share)
    cost_s = cpu_s / window.operations
    least_s = cost_s / (1.0 + _CHEAPER * idle)
    measured = _load_text((used_share, cost_s))
    other_loads = [(load.cores / window.ceiling, load.cost_s) for load in window.other_loads]
    for lighter, heavier, full_s in _at_full(sorted([(used_share, cost_s), *other_loads])):
        if full_s < least_s:
            least_s = full_s
            measured = f"{_load_text(lighter)}, and {_load_text(heavier)}"
    allowed = f"its {cores(window.ceiling)} would be used up"
    message = f"{allowed} at {format_ns(least_s * 1e9)} of CPU an operation: {measured}"
    # A window's CPU is read a little after its operations: it may be more than there is.
    per_s = max(window.ceiling / least_s, window.operations / window.seconds)
    # What another load of the same run did is no more than the target can do.
    reached_per_s = max((load.cores / load.cost_s for load in window.other_loads), default=0.0)
    return Most(per_s, message) if reached_per_s <= per_s else None


_Load = tuple[float, float]
"""The share of its CPU that a target used, and the seconds of CPU that an operation cost it."""


def _at_full(loads: list[_Load]) -> Iterator[tuple[_Load, _Load, float]]:
    """Yield two loads, the lighter one first, and what an operation costs by them at full load."""
    for lighter, heavier in combinations(loads, 2):
        (little, dear_s), (much, cheap_s) = lighter, heavier
        if little >= _LEAST_USED and much >= _APART * little and cheap_s < dear_s:
            power = math.log(dear_s / cheap_s) / math.log(much / little)
            yield lighter, heavier, cheap_s * min(much, 1.0) ** power


def _load_text(load: _Load) -> str:
    used_share, cost_s = load
    return f"{format_ns(cost_s * 1e9)} with {share(min(1.0, used_share))} of them used"
