"""Little's law as a check: the clocks must account for all the time of the lanes.

In lanes (one per user), N = X x R, with R the time from the end of an operation to the end of the
next operation in a lane. Multiplied by the seconds of the window, both sides are lane-seconds.
docs/method.md has the terms of the clocks' side, and the faults that break the law.
"""

from __future__ import annotations

import msgspec

TOLERANCE = 0.02
"""Allowed relative difference (rule 9 of the method)."""


class LittlesLaw(msgspec.Struct, frozen=True):
    """Both sides of the law in lanes, and `off`, the relative deviation of the clocks' side."""

    lanes: float
    from_clocks: float
    off: float
    holds: bool
    evidence: str


def littles_law(lane_s: float, clock_s: float, seconds: float) -> LittlesLaw | None:
    """Compare both sides of the law for a window; None if no lane ran."""
    if lane_s <= 0 or seconds <= 0:
        return None
    lanes, from_clocks = lane_s / seconds, clock_s / seconds
    off = clock_s / lane_s - 1
    holds = abs(off) <= TOLERANCE
    evidence = (
        f"{lanes:,.2f} lanes ran and the clocks account for {from_clocks:,.2f} ({off:+.2%}): "
        + ("N = X x R holds" if holds else "time is missing, or counted twice")
    )
    return LittlesLaw(lanes, from_clocks, off, holds, evidence)
