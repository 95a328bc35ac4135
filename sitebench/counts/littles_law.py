"""Little's law as an alarm: the lanes there were, against the lanes that the clocks account for.

N = X x R, with R the time from one operation's end to the next one's end in a lane. Multiplied
by the seconds of the window, both sides are lane-seconds, and each is counted by itself:

- the lanes that ran, integrated over time;
- what every clock of every step says that lanes did: service time and time waited in vain (from
  the histograms), the engine's own processing, and waiting (thinking, no arrival due, pausing
  after a failed connection).

An operation is recorded where it ends, so one that spans a window's edge would be counted in one
window and missed in the other. What is under way at both edges is read off the lanes there: the
start's is taken away, the end's is added. With that the law needs no steady state to hold, and
does not mind long operations or short windows.

A drain that got lost, an operation counted twice, a clock that runs wrong or a histogram that
saturates breaks it.
"""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 0.02
"""Method rule 9."""


@dataclass(frozen=True)
class LittlesLaw:
    """Both sides in lanes, and the relative difference of the clocks' side."""

    lanes: float
    from_clocks: float
    off: float
    holds: bool
    evidence: str


def littles_law(lane_s: float, clock_s: float, seconds: float) -> LittlesLaw | None:
    """Compare both sides of a window; None where no lane ran."""
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
