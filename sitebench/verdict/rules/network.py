"""Network: a link that is full, one that loses, or one on which operations spend their time.

The paper compares traffic with bandwidth ("less than 3 % of the available bandwidth"). That needs
a link whose speed this machine knows, and on the way there may be slower ones. So a handshake is
timed by the kernel once a second: no program of the target's takes part in it. What it takes
longer under load than it did without is queueing on the way, and is compared with what operations
take.
"""

from __future__ import annotations

from sitebench.units import format_bytes, format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BUSY, LOSS, STALLED_MOST, STALLED_SOME, USED_UP
from sitebench.verdict.rules.wording import share


def network(seen: Evidence) -> Finding:
    """Return whether the way between tester and target is used up."""
    said = f"{format_bytes((seen.bytes_in + seen.bytes_out) / seen.seconds)}/s of operations"
    signs = [sign for rule in (_bandwidth, _queueing, _losses) if (sign := rule(seen)) is not None]
    if not signs:
        return _found(Grade.UNKNOWN, f"{said}; nothing tells what the way to the target can carry")
    worst = min((grade for grade, _ in signs), key=_ORDER.index)
    told = [words for grade, words in signs if grade == worst]
    return _found(worst, "; ".join([said, *told]))


_ORDER = (Grade.PRIMARY, Grade.POSSIBLE, Grade.NO)
_Sign = tuple[Grade, str]


def _bandwidth(seen: Evidence) -> _Sign | None:
    """Compare traffic with the speed of the link, where it has one."""
    link = seen.link
    if link is None or link.speed_bits_s is None:
        return None
    used = max(link.bytes_in, link.bytes_out) * 8 / seen.seconds / link.speed_bits_s
    said = f"{link.name} carried {share(used)} of its {link.speed_bits_s / 1e6:,.0f} Mbit/s"
    grade = Grade.PRIMARY if used >= USED_UP else Grade.POSSIBLE if used >= BUSY else Grade.NO
    return grade, said


def _queueing(seen: Evidence) -> _Sign | None:
    """Compare what a round trip takes longer under load with what an operation takes."""
    loaded, idle = seen.use.round_trip_s, seen.use.idle_round_trip_s
    took = seen.service.mean if seen.service else None
    if loaded is None or idle is None or not took:
        return None
    service_s = took / 1e6
    queued, underway = (loaded - idle) / service_s, loaded / service_s
    times = f"an operation's {format_ns(service_s * 1e9)}"
    if queued >= STALLED_SOME:
        said = (
            f"a round trip took {format_ns(loaded * 1e9)} under load and {format_ns(idle * 1e9)} "
            f"without: queues on the way are {share(min(queued, 1.0))} of {times}"
        )
        return (Grade.PRIMARY if queued >= STALLED_MOST else Grade.POSSIBLE), said
    said = f"a round trip took {format_ns(loaded * 1e9)}, {share(underway)} of {times}"
    if underway >= STALLED_MOST:
        return Grade.POSSIBLE, f"{said}: distance, which more users would make up for"
    return Grade.NO, said


def _losses(seen: Evidence) -> _Sign | None:
    """Look for segments sent again, on whichever machine of the two tells."""
    machines = [each for each in (seen.target_machine, seen.use.machine) if each is not None]
    lost = [
        (m.retransmits / m.segments_out, m.retransmits)
        for m in machines
        if m.retransmits is not None and m.segments_out
    ]
    if not lost or max(lost)[0] < LOSS:
        return None
    part, n = max(lost)
    return Grade.POSSIBLE, f"{share(part)} of TCP's segments were sent again ({n:,})"


def _found(grade: Grade, said: str) -> Finding:
    return Finding(Resource.NETWORK, grade, said)
