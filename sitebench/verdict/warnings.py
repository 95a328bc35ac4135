"""What there is to doubt about a measurement: one function per doubt, from evidence to it or None.

A doubt leaves the number standing; what takes its validity away is the verdict's.
"""

from __future__ import annotations

from collections.abc import Callable

from sitebench.counts.steady import State
from sitebench.units import format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.generator import kept
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, STALLED_SOME
from sitebench.verdict.rules.wording import share
from sitebench.verdict.warning import Doubt, DoubtKind

__all__ = ["Doubt", "DoubtKind", "doubts"]

TIMEOUT = "timeout"

PORTS_LOW = 0.80
"""A connect sweep that used this share of its ports meets the rest within the next window."""

STOLEN = 0.02
"""What another guest may take unseen: half of what a comparison is to find (5 %)."""

LATE_DRAIN_S = 2.0
"""The tester's clockwork ticks every half second: this late, four ticks did not get a core."""


def doubts(seen: Evidence) -> tuple[Doubt, ...]:
    """Return every doubt about one window, the gravest first."""
    return tuple(doubt for rule in _RULES if (doubt := rule(seen)) is not None)


def unsettled(seen: Evidence) -> Doubt | None:
    """Doubt a mean of what was still changing."""
    if seen.settled is None or seen.settled.state != State.UNSETTLED:
        return None
    return Doubt(
        DoubtKind.UNSETTLED,
        seen.settled.evidence,
        "warm up longer (--warmup), measure longer (--measure), and look for other work on the "
        "machines",
    )


def littles_law(seen: Evidence) -> Doubt | None:
    """Doubt clocks and counts that do not add up."""
    if seen.little is None or seen.little.holds:
        return None
    return Doubt(
        DoubtKind.LITTLES_LAW,
        seen.little.evidence,
        "measure longer; if it stays, report it: the tester's own books are wrong",
    )


def generator_starved(seen: Evidence) -> Doubt | None:
    """Doubt latencies that hold the tester's own waiting for a core."""
    waited = max(0.0, min(1.0, seen.generator_wanted) - seen.generator_share)
    held = seen.per_second(seen.use.generator.throttled_s) or 0.0
    if held >= STALLED_SOME:
        return Doubt(
            DoubtKind.GENERATOR_STARVED,
            f"a quota of CPU held the tester back {held:.2f} s per second",
            "run the tester outside of that control group, or raise its quota (cpu.max)",
        )
    if waited < STALLED_SOME:
        return None
    return Doubt(
        DoubtKind.GENERATOR_STARVED,
        f"the tester's threads waited {share(waited)} of the time for a core: latencies hold that",
        "end other programs, give the tester cores of its own (taskset), or use another machine",
    )


def generator_near_ceiling(seen: Evidence) -> Doubt | None:
    """Doubt numbers that a quicker tester might raise."""
    if seen.generator_share < BUSY:
        return None
    return Doubt(
        DoubtKind.GENERATOR_NEAR_CEILING,
        f"the tester's busiest thread was on a core {share(seen.generator_share)} of the time",
        "use more engine threads (--threads), more Locust processes, or a quicker machine",
    )


def shared_cores(seen: Evidence) -> Doubt | None:
    """Doubt what tester and target take from each other."""
    if not seen.crowded or seen.busy is None:
        return None
    target, tester = seen.use.target, seen.use.generator
    ours = (target.cpu_s if target else 0.0, tester.cpu_s)
    took = [f"{name} {s / seen.seconds:.2f}" for name, s in zip(_WHO, ours, strict=True)]
    n = len(seen.use.machine.busy_per_core)
    said = (
        f"the {n} cores that target and tester share were {share(seen.busy)} busy: "
        f"{', '.join(took)}, everything else {seen.others_cores:.2f}"
    )
    if seen.others_cores >= STALLED_MOST * n:
        return Doubt(DoubtKind.NOISY_MACHINE, said, "end other programs, and measure again")
    return Doubt(
        DoubtKind.SHARED_CORES,
        said,
        "pin them to cores of their own, or run the target on another machine",
    )


_WHO = ("target", "tester")


def timeouts(seen: Evidence) -> Doubt | None:
    """Doubt percentiles of which the longest samples are missing."""
    n = max(seen.failures.get(TIMEOUT, 0), seen.censored.n if seen.censored else 0)
    if not n:
        return None
    return Doubt(
        DoubtKind.TIMEOUTS,
        f"{n:,} operations were given up: how long they would have taken nobody knows",
        "percentiles are those of what was answered; ask for less, or wait longer",
    )


def failures(seen: Evidence) -> Doubt | None:
    """Doubt a rate beside which operations failed."""
    others = {kind: n for kind, n in seen.failures.items() if kind != TIMEOUT and n}
    if not others:
        return None
    kinds = ", ".join(f"{kind} x {n:,}" for kind, n in sorted(others.items()))
    return Doubt(
        DoubtKind.FAILURES,
        f"{sum(others.values()):,} operations failed: {kinds}",
        "failing may be quicker than answering: find out why before using the rate",
    )


def schedule_lag(seen: Evidence) -> Doubt | None:
    """Doubt an open schedule's latencies where much of them is a late start."""
    lag, latency = seen.lag, seen.latency
    if seen.rate is None or lag is None or latency is None:
        return None
    if lag.mean is None or not latency.mean or lag.mean < STALLED_SOME * latency.mean:
        return None
    asked = "" if kept(seen) else f", and {seen.rate:,.0f}/s were not reached"
    return Doubt(
        DoubtKind.SCHEDULE_LAG,
        f"operations began {format_ns(lag.mean * 1e3)} late on average, "
        f"{share(lag.mean / latency.mean)} of their latency{asked}",
        "use more users, so that one is free when an operation is due, or a lower --rate",
    )


def ports(seen: Evidence) -> Doubt | None:
    """Doubt that the next window finds local ports; on loopback each lane has its own address."""
    waiting = seen.use.machine.sockets.get("time_wait", 0)
    if seen.on_loopback or seen.local_ports is None or waiting < PORTS_LOW * seen.local_ports:
        return None
    return Doubt(
        DoubtKind.PORTS,
        f"{waiting:,} of this machine's {seen.local_ports:,} local ports are in TIME_WAIT",
        "let a minute pass, keep connections, or widen net.ipv4.ip_local_port_range",
    )


def swap(seen: Evidence) -> Doubt | None:
    """Doubt what a machine does while it swaps."""
    pages = (seen.use.machine.swapped_in or 0) + (seen.use.machine.swapped_out or 0)
    if not pages:
        return None
    return Doubt(
        DoubtKind.SWAP,
        f"the tester's machine swapped {pages:,} pages",
        "end other programs, or use a smaller size",
    )


def stolen_time(seen: Evidence) -> Doubt | None:
    """Doubt a machine of which others have a part."""
    machine = seen.use.machine
    stolen = (machine.stolen_s or 0.0) / seen.seconds / (len(machine.busy_per_core) or 1)
    if stolen < STOLEN:
        return None
    return Doubt(
        DoubtKind.STOLEN_TIME,
        f"the hypervisor took {share(stolen)} of this machine's cores for others",
        "measure on a machine of your own, or repeat (--repeats) and compare medians",
    )


def too_short(seen: Evidence) -> Doubt | None:
    """Doubt a window of which nobody can tell whether it was steady."""
    if seen.settled is None or seen.settled.state != State.TOO_SHORT:
        return None
    return Doubt(
        DoubtKind.TOO_SHORT,
        f"nobody can tell whether the rate was steady: {seen.settled.evidence}",
        "measure longer, such as --measure 30s",
    )


def too_few_samples(seen: Evidence) -> Doubt | None:
    """Doubt that the tail was seen."""
    latency = seen.latency
    if latency is None or latency.percentiles.get("p99") is not None:
        return None
    return Doubt(
        DoubtKind.TOO_FEW_SAMPLES,
        f"{latency.n:,} samples are too few for a p99, which needs a hundred beyond it",
        "measure longer",
    )


def monitor_gaps(seen: Evidence) -> Doubt | None:
    """Doubt what was not looked at all the time."""
    for gap in seen.use.gaps:
        missing = f"{gap.missing} of {gap.asked} answers are" if gap.asked else "every answer is"
        why = f" ({gap.reason})" if gap.reason else ""
        return Doubt(
            DoubtKind.MONITOR_GAPS,
            f"{missing} missing from {gap.source}{why}",
            "check its address and that it answers within a second",
        )
    if seen.longest_drain_s is None or seen.longest_drain_s < LATE_DRAIN_S:
        return None
    return Doubt(
        DoubtKind.MONITOR_GAPS,
        f"the tester looked away for {seen.longest_drain_s:.1f} s: its timelines have a hole there",
        "end other programs; what lanes measured is not touched",
    )


def unwatched(seen: Evidence) -> Doubt | None:
    """Doubt a verdict that only one side was heard for."""
    if seen.use.target is not None or seen.target_machine is not None:
        return None
    return Doubt(
        DoubtKind.UNWATCHED,
        "the target cannot be watched from here, so what held it back is not known",
        "name a node_exporter on its machine (--monitor), or run it on this one",
    )


_RULES: tuple[Callable[[Evidence], Doubt | None], ...] = (
    *(unsettled, littles_law, generator_starved, generator_near_ceiling, shared_cores),
    *(failures, timeouts, schedule_lag, ports, swap, stolen_time),
    *(too_short, too_few_samples, monitor_gaps, unwatched),
)
