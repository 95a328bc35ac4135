"""CPU: the paper's first question, "is it fully utilized?", asked of the cores the target may use.

Three ways to be used up: the target is on its cores all the time; it uses up a quota that a
control group sets; or it would be on them, and others are.
"""

from __future__ import annotations

from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BUSY, USED_UP
from sitebench.verdict.rules.wording import cores, share


def cpu(seen: Evidence) -> Finding:
    """Return whether the target's CPU is used up."""
    used, wanted = seen.target_share, seen.target_wanted
    if used is None or wanted is None:
        return _by_machine(seen)
    said = f"the target used {share(used)} of {_what_it_has(seen)}"
    if used >= USED_UP:
        return _found(Grade.PRIMARY, said)
    if wanted >= USED_UP or (seen.crowded and wanted >= BUSY):
        return _found(Grade.PRIMARY, f"{said} and {_waited(seen)}")
    if used >= BUSY:
        return _found(Grade.POSSIBLE, f"{said}: little is left for bursts")
    return _found(Grade.NO, said)


def _waited(seen: Evidence) -> str:
    waited = seen.per_second(seen.use.target.waited_s if seen.use.target else None) or 0.0
    said = f"its threads waited {waited:.2f} s per second for one that others had"
    return (
        said if seen.busy is None else f"{said} (the machine's cores were {share(seen.busy)} busy)"
    )


def _what_it_has(seen: Evidence) -> str:
    quota = seen.use.target.quota_cores if seen.use.target else None
    if quota is not None and quota < (seen.target_cores or 1):
        return f"the {cores(quota)} that its quota allows"
    return f"its {cores(seen.ceiling)}"


def _by_machine(seen: Evidence) -> Finding:
    """Judge a target that is only known by its machine."""
    if seen.busy is None:
        return _found(Grade.UNKNOWN, "the target's processes cannot be watched from here")
    said = f"the target's machine was {share(seen.busy)} busy, whichever process it was"
    if seen.busy >= USED_UP:
        return _found(Grade.PRIMARY, said)
    return _found(Grade.POSSIBLE if seen.busy >= BUSY else Grade.NO, said)


def _found(grade: Grade, said: str) -> Finding:
    return Finding(Resource.CPU, grade, said)
