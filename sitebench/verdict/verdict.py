"""The verdict: the bottleneck, its evidence, and the warnings.

It combines the rules of `sitebench.verdict.rules`; docs/verdict.md explains them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from sitebench.counts.steady import Steadiness
from sitebench.units import format_rate, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.cpu import cpu
from sitebench.verdict.rules.disk import disk
from sitebench.verdict.rules.generator import Generator, generator, schedule_kept
from sitebench.verdict.rules.memory import memory
from sitebench.verdict.rules.most import upper_bound
from sitebench.verdict.rules.network import network
from sitebench.verdict.rules.operating_system import operating_system
from sitebench.verdict.rules.software import serialised_signs, software
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.rules.wording import share
from sitebench.verdict.warning import PointWarning, WarningKind
from sitebench.verdict.warnings import find_warnings
from sitebench.verdict.window import Window


class Bound(StrEnum):
    """What limited the rate."""

    TARGET_CPU = "target-cpu"
    NETWORK = "network"
    MEMORY = "memory"
    OPERATING_SYSTEM = "operating-system"
    SOFTWARE = "software"
    SERIALISED = "serialised"
    """Operations wait for each other in the target, by a lock or a pool of threads."""
    DISK = "disk"
    POOL = "pool"
    """The users' shared pool of connections."""
    GENERATOR = "generator"
    OTHERS = "others"
    SCHEDULE = "schedule"
    STAGED = "staged"
    UNSETTLED = "unsettled"
    FAILED = "failed"
    LEAK = "leak"
    """A response held another person's data: the point fails whatever its rate."""
    UNDECIDED = "undecided"


class Quoted(StrEnum):
    """How the rate of a point may be quoted: its grade in run files and `--json`."""

    MEASURED = "measured"
    AT_LEAST = "at least"
    """The load generator was the limit, or other programs used the cores."""
    NOT_USABLE = "not usable"


class Verdict(msgspec.Struct, frozen=True):
    """The limit of the point, whether the figure is the target's, and the evidence."""

    bound: str = msgspec.field(name="verdict")
    valid: bool
    evidence: str
    findings: tuple[Finding, ...] = msgspec.field(default=(), name="bottlenecks")
    warnings: tuple[PointWarning, ...] = ()
    at_most_per_s: float | None = None
    """If the rate is a lower bound: the rate that the target's CPU would allow, if known."""

    @property
    def grade(self) -> Quoted:
        if self.valid:
            return Quoted.MEASURED
        worker_lost = any(warning.kind == WarningKind.WORKER_LOST for warning in self.warnings)
        not_of_target = self.bound in (Bound.GENERATOR, Bound.OTHERS) and not worker_lost
        return Quoted.AT_LEAST if not_of_target else Quoted.NOT_USABLE

    @property
    def latency_at_most(self) -> bool:
        """Whether the latencies of a valid point are upper bounds.

        They are upper bounds if they include waits for other programs.
        """
        kinds = {warning.kind for warning in self.warnings}
        return self.valid and WarningKind.OTHERS_IN_LATENCY in kinds

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return {**fields, "grade": self.grade, "latency_at_most": self.latency_at_most}


def judge(window: Evidence, suite_warnings: Sequence[PointWarning] = ()) -> Verdict:
    """Judge a window; `suite_warnings` are warnings of the suite."""
    if leaks := window.failures_by_kind.get(Bound.LEAK):
        return Verdict(Bound.LEAK, False, f"{plural(leaks, 'page')} showed another user's data")
    if window.operations == 0:
        failed = f"succeeded: {failure_text(window)}"
        nothing = failed if window.failures else "finished within the window"
        return Verdict(Bound.FAILED, False, f"no operation {nothing}")
    tester = generator(window)
    findings = _findings(window, tester)
    spoiling = next((warning for warning in suite_warnings if warning.spoils), None)
    if spoiling is not None:
        verdict = Verdict(Bound.FAILED, False, spoiling.message)
    elif window.settled is not None and (
        window.settled.state == Steadiness.UNSETTLED
        or window.pauses_s is not None
        or (
            window.settled.state == Steadiness.GROWING
            and not (tester.used_up or window.others_took_cores)
        )
    ):
        # No single rate or latency existed that a resource could limit.
        verdict = Verdict(Bound.UNSETTLED, False, window.settled.evidence)
    else:
        verdict = _bound(window, tester, findings)
        if tester.spans:
            only = (
                f"the load generator was the limit from {tester.spans}; "
                "the other rows are the target's"
            )
            verdict = Verdict(Bound.GENERATOR, False, f"{only}; over all {verdict.evidence}")
        if verdict.valid and window.has_stages:
            evidence = f"its load changed by stages; over all of them {verdict.evidence}"
            verdict = Verdict(Bound.STAGED, True, evidence)
    if verdict.grade == Quoted.AT_LEAST and not window.has_stages:
        if window.failures > window.operations:
            evidence = f"most operations failed: {failure_text(window)}; {verdict.evidence}"
            verdict = Verdict(Bound.FAILED, False, evidence)
        else:
            verdict = with_interval(window, verdict)
    return replace(verdict, findings=findings, warnings=(*find_warnings(window), *suite_warnings))


def failure_text(window: Window) -> str:
    """Return each kind of failure with its count and first example."""
    firsts = {kind: f", the first: {text}" for kind, text in window.examples.items()}
    kinds = sorted(window.failures_by_kind.items())
    return "; ".join(f"{kind} x {n:,}{firsts.get(kind, '')}" for kind, n in kinds)


def _findings(window: Evidence, tester: Generator) -> tuple[Finding, ...]:
    """Judge every resource, in the order of the paper's tables."""
    first = (cpu(window), network(window), memory(window))
    disks = disk(window)
    used_up = first[0].grade == Grade.PRIMARY
    kernel = operating_system(window, cpu_used_up=used_up)
    held_back = tester.used_up or window.others_took_cores or window.full_pool is not None
    pressed = used_up or not (held_back or schedule_kept(window) or window.thinks)
    return (*first, kernel, software(window, (*first, kernel, disks), pressed=pressed), disks)


def _bound(window: Evidence, tester: Generator, findings: Sequence[Finding]) -> Verdict:
    """Decide whether the load generator, or a resource of the target, limited the rate."""
    evidence = {finding.resource: finding.evidence for finding in findings}
    used_up = [finding.resource for finding in findings if finding.grade == Grade.PRIMARY]
    failed = f"; {plural(window.failures, 'operation')} failed" if window.failures else ""
    summary = f"{evidence[Resource.CPU]}; {tester.message}{failed}"
    by_others = tester.starved or window.others_took_cores
    if tester.used_up and not (tester.spans or by_others):
        # A faster load generator might reach more, even if a resource of the target is used up.
        limits = ["the load generator", *_names(used_up)]
        were = "was the limit" if len(limits) == 1 else "were used up: the rate is a lower bound"
        return Verdict(Bound.GENERATOR, False, f"{summary}: {' and '.join(limits)} {were}")
    # If other programs starved the load generator, its waits must be known for upper bounds.
    unknown_waits = tester.starved and window.waited_for_others_us is None
    if schedule_kept(window) and not unknown_waits:
        return Verdict(Bound.SCHEDULE, True, f"the schedule's rate was kept; {summary}")
    if by_others:
        # The evidence of the target's CPU may name other programs already.
        cores = f"other programs used {window.others_cores:.2f} cores of this machine"
        shared = window.others_took_cores
        return Verdict(Bound.OTHERS, False, summary if shared else f"{summary}: {cores}")
    if len(used_up) != 1:
        return _of_no_one_resource(window, used_up, summary)
    (name,) = used_up
    if name == Resource.CPU:
        return Verdict(Bound.TARGET_CPU, True, summary)
    waits = name == Resource.SOFTWARE and serialised_signs(window) is not None
    bound = Bound.SERIALISED if waits else Bound(name)
    return Verdict(bound, True, f"{evidence[name]}; {summary}")


def _of_no_one_resource(window: Evidence, used_up: Sequence[str], summary: str) -> Verdict:
    """Return the verdict if no resource, or several resources, of the target are used up."""
    if used_up:
        full = " and ".join(_names(used_up))
        return Verdict(Bound.UNDECIDED, True, f"{full} are used up; {summary}")
    if (pool := window.full_pool) is None:
        return Verdict(Bound.UNDECIDED, True, f"{_none_used_up(window)}; {summary}")
    reason = (
        f"{pool.in_use:.2f} of the {plural(pool.places, 'place')} of the pool {pool.name} were "
        "in use, on average: its users waited for one"
    )
    return Verdict(Bound.POOL, True, f"{reason}; {summary}")


def _none_used_up(window: Evidence) -> str:
    """Say that no resource is used up, or name the programs that shared the busy cores."""
    target, busy = window.per_second(window.use.target_cpu_s), window.allowed_busy
    if target is None or busy is None or busy < USED_UP:
        return "no monitored resource is used up"
    tester = window.use.generator.cpu_s / window.seconds
    return (
        f"the target's cores were {share(busy)} busy: target {target:.2f}, "
        f"load generator {tester:.2f}, "
        f"everything else {window.others_cores:.2f}"
    )


def with_interval(window: Evidence, verdict: Verdict) -> Verdict:
    """Add to a verdict the lower and, if known, the upper bound of the target's own rate."""
    rate = window.operations / window.seconds
    evidence = f"{verdict.evidence}; at least {format_rate(rate)}/s (measured)"
    if (upper := upper_bound(window)) is None:
        return replace(verdict, evidence=evidence)
    evidence += f"; at most {format_rate(upper.per_s)}/s ({upper.message})"
    return replace(verdict, evidence=evidence, at_most_per_s=upper.per_s)


def _names(resources: Sequence[str]) -> list[str]:
    return [
        f"the target's {'CPU' if resource == Resource.CPU else resource}" for resource in resources
    ]
