"""The tester: whether its own capacity limited the result.

It is used up when one of its threads runs on a core all the time, when its threads run or wait for
a core all the time (other programs have the cores), or when its CPU quota is used up. The rate is
then a lower bound of what the target can do, whatever of the target's was used up beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sitebench.counts.metrics import SERVICE
from sitebench.counts.queue import Queue, allowed_growth
from sitebench.units import format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.thresholds import (
    BUSY,
    CHANCE_DEVIATIONS,
    MIN_SCHEDULE_SHARE,
    STALLED_MOST,
    USED_UP,
    WINDOW_EDGE_OPERATIONS,
)
from sitebench.verdict.rules.wording import cores, share


@dataclass(frozen=True)
class Generator:
    """Whether the tester is at its ceiling, and the evidence in a sentence."""

    used_up: bool
    message: str
    starved: bool = False
    """Other programs, neither tester nor target, used most of the machine."""


def generator(window: Evidence) -> Generator:
    """Return whether the tester could have done no more."""
    busiest, wanted, of_quota = (
        window.generator_share,
        window.generator_wanted,
        window.generator_of_quota,
    )
    text = f"the busiest generator thread was on a core {share(busiest)} of the time"
    if busiest >= USED_UP:
        return Generator(True, text)
    if of_quota is not None and of_quota >= USED_UP:
        allowed = cores(window.use.generator.quota_cores or 0.0)
        return Generator(True, f"the generator used {share(of_quota)} of its quota of {allowed}")
    if wanted >= USED_UP or (window.crowded and wanted >= BUSY):
        waiting = share(min(1.0, wanted) - busiest)
        text = f"{text}, and its threads waited for a core another {waiting}"
        return Generator(True, text, starved=_outcompeted(window))
    if late := _late(window):
        return Generator(True, f"{text}; {late}")
    return Generator(False, text)


def _outcompeted(window: Evidence) -> bool:
    return window.others_cores >= STALLED_MOST * len(window.use.machine.busy_per_core)


def _late(window: Evidence) -> str:
    """Describe a late start with lanes free: only the tester can be the reason.

    Of stages the mean does not tell whether any was free when it was late.
    """
    if window.rate is None or window.staged or schedule_kept(window):
        return ""
    late, service_us, busy = window.late_us, window.clocks[SERVICE].mean, window.busy_lanes or 0.0
    if late is None or not service_us or late < service_us or busy >= STALLED_MOST * window.users:
        return ""
    return (
        f"operations began {format_ns(late * 1e3)} late on average although "
        f"{busy:.1f} of {window.users} lanes were in use"
    )


def schedule_kept(window: Evidence) -> bool:
    """Return whether an open schedule's rate was reached."""
    if window.rate is None:
        return False
    due = window.rate * window.seconds
    queues = (window.queue_start, window.queue_end)
    return rate_reached(window.operations, due, window.arrivals, queues)


def rate_reached(
    operations: int, due: float, arrivals: str | None, queues: tuple[Queue | None, Queue | None]
) -> bool:
    """Return whether so many operations are as many as were due on average.

    The number of random arrivals has the square root of its mean as its standard deviation. The
    queues at the window's edges say more exactly whether the target kept up with those that came;
    of the others some may have failed.
    """
    start, end = queues
    grown = 0 if start is None or end is None else end.length - start.length
    if start is not None and grown > allowed_growth(start.length, due):
        return False
    chance = CHANCE_DEVIATIONS * math.sqrt(due) if arrivals == "poisson" else 0.0
    return operations + WINDOW_EDGE_OPERATIONS + chance >= MIN_SCHEDULE_SHARE * due
