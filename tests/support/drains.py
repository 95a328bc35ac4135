"""Invented drains of a source of lanes: plain values, for the pure parts."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts import metrics, source


def histogram(*values_ns: int) -> Histogram:
    made = Histogram()
    for value in values_ns:
        made.record(value)
    return made


def Step(  # noqa: N802, PLR0917 -- in the order in which a drain is read
    program: str,
    step: str,
    count: int = 0,
    failures: Mapping[str, int] | None = None,
    bytes_out: int = 0,
    bytes_in: int = 0,
    service: Histogram | None = None,
    *,
    processing_ns: int = 0,
    overlaps: bool = False,
    **clocks: Histogram,
) -> source.StepTotals:
    """Return the results of one step in a closed schedule, unless a latency is given."""
    known = clocks | ({} if service is None else {"service": service})
    own: dict[str, Histogram] = {
        each: known.get(each, Histogram())
        for each in metrics.CLOCKS
        if each in known or each.closed is None
    }
    for clock in metrics.CLOCKS:
        if clock.closed is not None:
            own.setdefault(clock, own[clock.closed])
    counters = {"bytes_out": bytes_out, "bytes_in": bytes_in}
    counters |= {"processing": processing_ns, "failed": 0, "paused": 0, "thinking": 0}
    return source.StepTotals(
        program,
        step,
        count,
        Counter(failures or {}),
        defaultdict(Histogram, own),
        defaultdict(int, counters),
        overlaps or step == source.SEQUENCE,
    )


def Drain(  # noqa: N802, PLR0917 -- in the order of its fields
    t0_ns: int,
    t1_ns: int,
    steps: Sequence[source.StepTotals] = (),
    lanes: int = 1,
    cpu_ns: tuple[int, ...] = (0,),
    lane_ns: int = 0,
    waiting_ns: int = 0,
    underway_ns: int = 0,
    **more: Any,
) -> source.Drain:
    """Return the results of one or more lanes between two instants."""
    first = (t0_ns, t1_ns, steps, lanes, cpu_ns, lane_ns, waiting_ns, underway_ns)
    return source.Drain(*first, **more)
