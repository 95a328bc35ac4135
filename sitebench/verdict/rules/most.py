"""The upper bound of the target's rate, at which its CPU would be used up (utilisation law).

    X <= cores / (CPU seconds per operation)

An operation costs less at a higher load (docs/verdict.md has measurements). So the cost at an idle
target is assumed to fall to less than a third, and the cost at any other target in proportion to
its idle time. If the cost fell faster between two loads of the same target, it is extrapolated as a
power of the used share of the CPU: a cost of 50 us at 30 % and 25 us at 60 % fell as 1 / share, and
is 15 us at 100 %.
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
"""An operation of an idle target costs up to (1 + `_CHEAPER`) times as much as an operation of a
busy target: 28 us at `_LEAST_USED` may become 9 us."""

_LEAST_USED = 0.10
"""The least used share of the CPU at which the cost of an operation is meaningful."""

_APART = 1.5
"""The least ratio of the CPU used at two loads; noise may explain a smaller difference."""


class Most(msgspec.Struct, frozen=True):
    per_s: float
    message: str


def upper_bound(window: Evidence) -> Most | None:
    """Return the upper bound; None where the cost per operation is not known."""
    used_share, cpu_s = window.target_share, window.use.target_cpu_s
    # If operations failed, `cpu_s` includes their CPU. Without the number of the target's cores,
    # there is no ceiling.
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
    # CPU is read a little after the end of the window, so the used CPU may exceed the ceiling.
    per_s = max(window.ceiling / least_s, window.operations / window.seconds)
    # A bound that is below the rate at another load would be wrong.
    reached_per_s = max((load.cores / load.cost_s for load in window.other_loads), default=0.0)
    return Most(per_s, message) if reached_per_s <= per_s else None


_Load = tuple[float, float]
"""The share of its CPU that a target used, and the CPU seconds of an operation."""


def _at_full(loads: list[_Load]) -> Iterator[tuple[_Load, _Load, float]]:
    """Yield two loads, the lighter first, and the cost that they predict at full load."""
    for lighter, heavier in combinations(loads, 2):
        (little, dear_s), (much, cheap_s) = lighter, heavier
        if little >= _LEAST_USED and much >= _APART * little and cheap_s < dear_s:
            power = math.log(dear_s / cheap_s) / math.log(much / little)
            yield lighter, heavier, cheap_s * min(much, 1.0) ** power


def _load_text(load: _Load) -> str:
    used_share, cost_s = load
    return f"{format_ns(cost_s * 1e9)} with {share(min(1.0, used_share))} of them used"
