"""CPU: the paper's first question, "is it fully utilized?", for the cores that the target may use.

Waits for a core alone prove nothing: many threads that wake up wait a moment each while the cores
have time left. docs/verdict.md ("The rules") has the cases.
"""

from __future__ import annotations

from functools import partial

from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource, grade
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
        return _finding(
            Grade.TAKEN,
            f"{text}: {share(window.allowed_busy or 0.0)} of the {cores(len(window.usable_cores))} "
            f"that it may use was busy, and other programs used {window.taken_cores:.2f}",
        )
    if window.target_waits:
        waited = window.per_second(target.waited_s) or 0.0
        text += f" and {waited:.1f} of its threads were always waiting for a core"
        if busy is not None:
            text += f" (its cores were {share(busy)} busy)"
        return _finding(Grade.PRIMARY, text)
    little = ": little headroom" if total >= BUSY else ""
    return _finding(Grade.POSSIBLE if little else Grade.NO, f"{text}{little}")


def _by_machine(window: Evidence) -> Finding:
    """Judge the CPU of the whole machine: the target's process is not monitored."""
    if window.busy is None:
        return _finding(Grade.UNKNOWN, "the target's processes cannot be monitored from here")
    text = f"the target's machine was {share(window.busy)} busy, with all its processes together"
    return _finding(grade(window.busy, BUSY, USED_UP), text)
