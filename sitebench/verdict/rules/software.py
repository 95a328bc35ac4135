"""Software: the bottleneck if resources are free and the target leaves them unused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sitebench.units import format_rate, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.operating_system import kernel_share
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, USED_UP
from sitebench.verdict.rules.wording import cores, share

_finding = partial(Finding, Resource.SOFTWARE)

_REJECTED = (
    *("connect-refused", "connect-timeout"),
    *("result:busy", "result:unavailable", "status:429", "status:503"),
)
"""Failures by which a server rejects work."""

_SEVERAL_CORES = 1.5
"""With so many cores, one full thread leaves capacity unused."""

_GAIN = 1.05
"""The least gain from twice the users that counts; a comparison must show an equal difference."""


def serialised_signs(window: Evidence) -> str | None:
    """Return the signs that operations wait for each other while the target's cores are idle."""
    wanted_share, full, half = window.target_wanted, window.pool_full, window.rate_at_half
    if wanted_share is None or wanted_share >= BUSY or _one_thread(window) is not None:
        return None
    if _no_core_idle(window):
        return None
    signs = []
    if full is not None and full >= STALLED_MOST:
        threads = (window.use.directory or {}).get("threads_max", 0)
        signs.append(
            f"all {threads:.0f} threads of its pool were busy and operations waited for one, "
            f"in {share(full)} of the readings"
        )
    rate = window.operations / window.seconds
    if half and window.users > 1 and rate < _GAIN * half:
        signs.append(
            f"{window.users} users did {format_rate(rate)}/s, where {window.users // 2} did "
            f"{format_rate(half)}/s"
        )
    if not signs:
        return None
    return f"{'; '.join(signs)}: operations wait for a lock, or one of a few threads"


def software(window: Evidence, findings: Sequence[Finding], *, pressed: bool) -> Finding:
    if away := sum(window.failures_by_kind.get(kind, 0) for kind in _REJECTED):
        return _finding(Grade.POSSIBLE, f"the target rejected {plural(away, 'operation')}")
    if (busiest := _one_thread(window)) is not None:
        text = (
            f"one of the target's threads was on a core {share(busiest)} of the time, and has "
            f"{cores(window.ceiling)} to use"
        )
        return _finding(Grade.PRIMARY, text)
    if not pressed:
        return _finding(Grade.UNKNOWN, "the load did not reach the target's limit")
    return _by_the_others(window, findings)


def _by_the_others(window: Evidence, findings: Sequence[Finding]) -> Finding:
    used_up = [finding.resource for finding in findings if finding.grade == Grade.PRIMARY]
    if Resource.CPU in used_up:
        kernel = kernel_share(window)
        if kernel is None:
            return _finding(Grade.UNKNOWN, "its own share of the CPU is not known")
        evidence = f"{share(1 - kernel)} of the target's CPU is its own code"
        return _finding(Grade.POSSIBLE if kernel < USED_UP else Grade.NO, evidence)
    if used_up:
        return _finding(Grade.NO, f"it waits for resources that are used up: {', '.join(used_up)}")
    if (text := serialised_signs(window)) is not None:
        return _finding(Grade.PRIMARY, text)
    unknown = any(finding.grade == Grade.UNKNOWN for finding in findings)
    if unknown or _no_core_idle(window):
        full = "the cores that it may use were busy: it may wait for them"
        less = "not everything it may wait for is monitored"
        return _finding(Grade.UNKNOWN, less if unknown else full)
    return _finding(
        Grade.POSSIBLE,
        "no resource of the machine is used up: it waits for locks, timers or pools of its own, or "
        "there are too few users to use them up",
    )


def _no_core_idle(window: Evidence) -> bool:
    return window.allowed_busy is not None and window.allowed_busy >= USED_UP


def _one_thread(window: Evidence) -> float | None:
    """Return the busiest thread's share, if the thread is full and further cores are free."""
    target = window.use.target
    if target is None or target.busiest_thread_s is None or window.ceiling < _SEVERAL_CORES:
        return None
    if window.all_cores_busy:
        return None
    busiest = target.busiest_thread_s / window.seconds
    return busiest if busiest >= USED_UP else None
