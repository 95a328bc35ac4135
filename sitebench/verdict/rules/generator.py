"""The load generator: whether its own capacity limited the result (docs/verdict.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import msgspec

from sitebench.counts.metrics import SERVICE
from sitebench.counts.queue import Queue, allowed_growth
from sitebench.counts.spans import Span
from sitebench.units import format_clock, format_ns, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, USED_UP
from sitebench.verdict.rules.wording import cores, share

_MIN_SCHEDULE_SHARE = 0.98
"""The least share of the requested rate with which a schedule is kept."""

_WINDOW_EDGE_OPERATIONS = 2
"""Operations that the edges of the window may cut off; at a low rate this is a large share."""

_CHANCE_DEVIATIONS = 3
"""A normally distributed number is so many standard deviations too low in one of 700 cases."""

_MOST_NAMED = 5
"""The highest number of stretches of spans in a sentence; the table of spans has all stretches."""


class Generator(msgspec.Struct, frozen=True):
    """Whether the load generator is at its ceiling, and the evidence in a sentence."""

    used_up: bool
    message: str
    starved: bool = False
    """Other programs used most of the machine."""
    spans: str = ""
    """The spans in which the load generator was at its ceiling; empty if it was in every span."""


def generator(window: Evidence) -> Generator:
    busiest, wanted_share = window.generator_share, window.generator_wanted
    of_quota = window.generator_of_quota
    text = f"the busiest generator thread was on a core {share(busiest)} of the time"
    if busiest >= USED_UP:
        return Generator(True, text)
    if of_quota is not None and of_quota >= USED_UP:
        allowed = cores(window.use.generator.quota_cores or 0.0)
        return Generator(True, f"the generator used {share(of_quota)} of its quota of {allowed}")
    if wanted_share >= USED_UP or (window.all_cores_busy and wanted_share >= BUSY):
        waiting = share(min(1.0, wanted_share) - busiest)
        text = f"{text}, and its threads waited for a core another {waiting}"
        least = STALLED_MOST * len(window.use.machine.busy_per_core)
        return Generator(True, text, starved=window.others_cores >= least)
    if late := _late(window):
        return Generator(True, f"{text}; {late}")
    held_up = [_held_up(span) for span in window.spans]
    spans = "" if all(held_up) else _stretch_times(window.spans, held_up)
    return Generator(any(held_up), text, spans=spans)


def _late(window: Evidence) -> str:
    """Describe late starts of operations, if the load generator caused them."""
    if window.rate is None or window.has_stages or schedule_kept(window):
        return ""
    late, service_us, busy = window.late_us, window.clocks[SERVICE].mean, window.busy_lanes or 0.0
    if late is None or not service_us or late < service_us or busy >= STALLED_MOST * window.users:
        return ""
    return (
        f"operations began {format_ns(late * 1e3)} late on average although "
        f"{busy:.1f} of {plural(window.users, 'lane')} were in use"
    )


def _held_up(span: Span) -> bool:
    """Return whether the load generator was at its ceiling in a span of stages.

    It was at its ceiling if it used up its CPU, or if operations began late by a noticeable part of
    the span, mostly while lanes were free. Spans with many failures do not count as late: lanes are
    also free while they pause after failures of the target.
    """
    if (span.tester_busy or 0.0) >= USED_UP:
        return True
    late_us, latency_us = span.late_us, span.latency_us.mean
    if (span.tester_late or 0.0) < STALLED_MOST or late_us is None or latency_us is None:
        return False
    late = late_us >= (1 - _MIN_SCHEDULE_SHARE) * span.seconds * 1e6
    most_failures = (1 - _MIN_SCHEDULE_SHARE) * span.operations
    return late and 2 * late_us >= latency_us and span.failures <= most_failures


def _stretch_times(spans: Sequence[Span], held_up: Sequence[bool]) -> str:
    """Return stretches of spans by begin and end: "0:02 to 0:04"."""
    times = []
    for is_held, rows in groupby(zip(held_up, spans, strict=True), key=itemgetter(0)):
        if is_held:
            *_, last = stretch = [span for _, span in rows]
            end_s = last.begin_s + last.seconds
            times.append(f"{format_clock(stretch[0].begin_s)} to {format_clock(end_s)}")
    omitted = f" and {len(times) - _MOST_NAMED:,} times more" if len(times) > _MOST_NAMED else ""
    return ", ".join(times[:_MOST_NAMED]) + omitted


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
    """Return whether as many operations ended as were due.

    The standard deviation of random arrivals is the square root of their mean. The queues at the
    edges of the window show more exactly whether the target kept up with the arrivals.
    """
    start, end = queues
    grown = 0 if start is None or end is None else end.length - start.length
    if start is not None and grown > allowed_growth(start.length, due):
        return False
    chance = _CHANCE_DEVIATIONS * math.sqrt(due) if arrivals == "poisson" else 0.0
    return operations + _WINDOW_EDGE_OPERATIONS + chance >= _MIN_SCHEDULE_SHARE * due
