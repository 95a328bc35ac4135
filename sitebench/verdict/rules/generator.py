"""The generator: whether the number is the tester's.

Its threads are used up when one of them is on a core all the time, when they are on a core or
wait for one all the time (others have the cores), or when a quota of CPU is used up. That alone
does not spoil a number: only where the target had capacity left, or nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.units import format_ns
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.thresholds import AT_THE_EDGES, BUSY, MISSED, STALLED_MOST, USED_UP
from sitebench.verdict.rules.wording import cores, share


@dataclass(frozen=True)
class Generator:
    """Whether the tester is at its ceiling, and what it did in words."""

    used_up: bool
    said: str
    starved: bool = False
    """It is at its ceiling because others, neither it nor the target, had most of the machine."""


def generator(seen: Evidence) -> Generator:
    """Return whether the tester could have done no more."""
    busiest, wanted, of_quota = seen.generator_share, seen.generator_wanted, seen.generator_of_quota
    said = f"the busiest generator thread was on a core {share(busiest)} of the time"
    if busiest >= USED_UP:
        return Generator(True, said)
    if of_quota is not None and of_quota >= USED_UP:
        allowed = cores(seen.use.generator.quota_cores or 0.0)
        return Generator(True, f"the generator used {share(of_quota)} of its quota of {allowed}")
    if wanted >= USED_UP or (seen.crowded and wanted >= BUSY):
        waiting = share(min(1.0, wanted) - busiest)
        said = f"{said}, and its threads waited for one {waiting} of it"
        return Generator(True, said, starved=_robbed(seen))
    if late := _late(seen):
        return Generator(True, f"{said}; {late}")
    return Generator(False, said)


def _robbed(seen: Evidence) -> bool:
    """Return whether other programs had more of the machine than all that is measured."""
    return seen.others_cores >= STALLED_MOST * len(seen.use.machine.busy_per_core)


def _late(seen: Evidence) -> str:
    """Say so when operations began late although lanes were free: nobody but the tester can be."""
    if seen.rate is None or kept(seen):
        return ""
    lag, service = seen.lag, seen.service
    if lag is None or service is None or lag.mean is None or not service.mean:
        return ""
    occupied = seen.operations / seen.seconds * service.mean / 1e6
    if lag.mean < service.mean or occupied >= STALLED_MOST * seen.users:
        return ""
    return (
        f"operations began {format_ns(lag.mean * 1e3)} late on average although "
        f"{occupied:.1f} of {seen.users} lanes were in use"
    )


def kept(seen: Evidence) -> bool:
    """Return whether an open schedule's rate was reached."""
    if seen.rate is None:
        return False
    return seen.operations + AT_THE_EDGES >= MISSED * seen.rate * seen.seconds
