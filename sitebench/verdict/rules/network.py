"""Network: a full link, a link that loses segments, or a link with queues (docs/verdict.md)."""

from __future__ import annotations

from functools import partial

from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, SERVICE
from sitebench.units import format_bytes, format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource, grade, worst_of
from sitebench.verdict.rules.thresholds import BUSY, LOSS, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.rules.wording import share

_finding = partial(Finding, Resource.NETWORK)


def network(window: Evidence) -> Finding:
    moved = sum(window.counters.get(counter) or 0 for counter in (BYTES_IN, BYTES_OUT))
    text = f"{format_bytes(moved / window.seconds)}/s of operations"
    signs = [
        sign for rule in (_bandwidth, _queueing, _losses) if (sign := rule(window)) is not None
    ]
    if not signs:
        return _finding(
            Grade.UNKNOWN, f"{text}; the capacity of the path to the target is not known"
        )
    worst = worst_of(sign for sign, _ in signs)
    texts = [words for sign, words in signs if sign == worst]
    return _finding(worst, "; ".join([text, *texts]))


_Sign = tuple[Grade, str]


def _bandwidth(window: Evidence) -> _Sign | None:
    link = window.link
    if link is None or link.speed_bits_s is None:
        return None
    load = max(link.bytes_in, link.bytes_out) * 8 / window.seconds / link.speed_bits_s
    text = f"{link.name} carried {share(load)} of its {link.speed_bits_s / 1e6:,.0f} Mbit/s"
    return grade(load, BUSY, USED_UP), text


def _queueing(window: Evidence) -> _Sign | None:
    """Compare the increase of a round trip under load with the service time."""
    loaded, idle = window.use.round_trip_s, window.use.idle_round_trip_s
    took = window.clocks[SERVICE].mean
    machine = window.target_machine
    if machine is not None and machine.listen_overflows:
        return None  # The target's kernel dropped the handshakes, not the path.
    if loaded is None or idle is None or not took:
        return None
    service_s = took / 1e6
    queued, underway = (loaded - idle) / service_s, loaded / service_s
    times = f"an operation's {format_ns(service_s * 1e9)}"
    if queued >= STALLED_SOME:
        text = (
            f"a round trip took {format_ns(loaded * 1e9)} under load and {format_ns(idle * 1e9)} "
            f"without: queues on the path are {share(min(queued, 1.0))} of {times}"
        )
        return grade(queued, STALLED_SOME, STALLED_MOST), text
    text = f"a round trip took {format_ns(loaded * 1e9)}, {share(underway)} of {times}"
    if underway >= STALLED_MOST:
        return Grade.POSSIBLE, f"{text}: distance, which more users would compensate"
    return Grade.NO, text


def _losses(window: Evidence) -> _Sign | None:
    """Compare retransmitted segments with all segments, on the monitored machines."""
    losses = [
        (machine.retransmits / machine.segments_out, machine.retransmits)
        for machine in (window.target_machine, window.use.machine)
        if machine is not None and machine.retransmits is not None and machine.segments_out
    ]
    if not losses or max(losses)[0] < LOSS:
        return None
    part, n = max(losses)
    return Grade.POSSIBLE, f"{share(part)} of TCP's segments were retransmitted ({n:,})"
