"""CPU: the paper's first question, "is it fully utilized?", asked of the cores the target may use.

It is used up in three cases: the target runs on its cores all the time; it uses up the quota of
its control group; or it waits for its cores because other programs run on them.
"""

from __future__ import annotations

from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BUSY, USED_UP
from sitebench.verdict.rules.wording import cores, share


def cpu(window: Evidence) -> Finding:
    """Return whether the target's CPU is used up."""
    used, wanted = window.target_share, window.target_wanted
    if used is None or wanted is None:
        return _by_machine(window)
    text = f"the target used {share(used)} of {_what_it_has(window)}"
    if used >= USED_UP:
        return _found(Grade.PRIMARY, text)
    if wanted >= USED_UP or (window.crowded and wanted >= BUSY):
        return _found(Grade.PRIMARY, f"{text} and {_waited(window)}")
    if used >= BUSY:
        return _found(Grade.POSSIBLE, f"{text}: little is left for bursts")
    return _found(Grade.NO, text)


def _waited(window: Evidence) -> str:
    waited = window.per_second(window.use.target.waited_s if window.use.target else None) or 0.0
    text = f"its threads waited {waited:.2f} s per second for a core in use by others"
    return (
        text
        if window.busy is None
        else f"{text} (the machine's cores were {share(window.busy)} busy)"
    )


def _what_it_has(window: Evidence) -> str:
    quota = window.use.target.quota_cores if window.use.target else None
    if quota is not None and quota < (window.target_cores or 1):
        return f"the {cores(quota)} that its quota allows"
    return f"its {cores(window.ceiling)}"


def _by_machine(window: Evidence) -> Finding:
    """Judge a target of which only its machine is monitored."""
    if window.busy is None:
        return _found(Grade.UNKNOWN, "the target's processes cannot be monitored from here")
    text = f"the target's machine was {share(window.busy)} busy, with all its processes together"
    if window.busy >= USED_UP:
        return _found(Grade.PRIMARY, text)
    return _found(Grade.POSSIBLE if window.busy >= BUSY else Grade.NO, text)


def _found(grade: Grade, text: str) -> Finding:
    return Finding(Resource.CPU, grade, text)
