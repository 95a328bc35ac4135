"""CPU: the paper's first question, "is it fully utilized?", of the cores that the target may use.

It is used up in three cases: the target runs on its cores all the time; it uses up the quota of
its control group; or it waits for cores that are busy with the load generator. Waits alone do not
show the last: many threads that wake up wait a moment each, while the cores have time left. Where
other programs used most of its cores, they are taken, and the rate is a lower bound.
"""

from __future__ import annotations

from functools import partial

from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import BEYOND, BUSY, USED_UP
from sitebench.verdict.rules.wording import cores, share

_finding = partial(Finding, Resource.CPU)


def cpu(window: Evidence) -> Finding:
    target, used_share = window.use.target, window.target_share
    if target is None or used_share is None:
        return _by_machine(window)
    allowed = f"its {cores(window.ceiling)}"
    if target.quota_cores is not None and target.quota_cores < (window.target_cores or 1):
        allowed = f"the {cores(target.quota_cores)} that its quota allows"
    text = f"the target used {share(used_share)} of {allowed}"
    if used_share > BEYOND:
        text += ", which is more than there is: it has more cores than it was taken to have"
        return _finding(Grade.UNKNOWN, text)
    busy, helpers = window.allowed_busy, window.behind_cores / window.ceiling
    if helpers:
        names = ", ".join(program.name for program in window.use.behind)
        text += f", and what works behind it ({names}) {share(helpers)}"
    total = used_share + helpers
    if used_share >= USED_UP or (
        helpers and total >= (BUSY if (busy or 0.0) >= USED_UP else USED_UP)
    ):
        return _finding(Grade.PRIMARY, text)
    if window.others_took_cores:
        return _finding(Grade.TAKEN, f"{text}: {taken_by_others(window)}")
    if window.target_waits:
        waited = window.per_second(target.waited_s) or 0.0
        text += f" and {waited:.1f} of its threads were always waiting for a core"
        if busy is not None:
            text += f" (its cores were {share(busy)} busy)"
        return _finding(Grade.PRIMARY, text)
    little = ": little headroom" if total >= BUSY else ""
    return _finding(Grade.POSSIBLE if little else Grade.NO, f"{text}{little}")


def taken_by_others(window: Evidence) -> str:
    """Describe how busy the cores were that the target may use, and others' use of them."""
    busy, core_count = share(window.allowed_busy or 0.0), cores(len(window.usable_cores))
    return (
        f"{busy} of the {core_count} that it may use was busy, and other programs used "
        f"{window.taken_cores:.2f}"
    )


def _by_machine(window: Evidence) -> Finding:
    """Judge a target by its machine, as its process is not monitored."""
    if window.busy is None:
        return _finding(Grade.UNKNOWN, "the target's processes cannot be monitored from here")
    text = f"the target's machine was {share(window.busy)} busy, with all its processes together"
    if window.busy >= USED_UP:
        return _finding(Grade.PRIMARY, text)
    return _finding(Grade.POSSIBLE if window.busy >= BUSY else Grade.NO, text)
