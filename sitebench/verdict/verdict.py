"""What the bottleneck was: a typed answer, the evidence for it, and the warnings.

Rules judge one resource each (`sitebench.verdict.rules`), and one judges the generator; this
combines them. docs/verdict.md says how, with every threshold and where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import msgspec

from sitebench.counts.steady import Steadiness
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.cpu import cpu
from sitebench.verdict.rules.disk import disk
from sitebench.verdict.rules.generator import Generator, generator, schedule_kept
from sitebench.verdict.rules.memory import memory
from sitebench.verdict.rules.network import network
from sitebench.verdict.rules.operating_system import operating_system
from sitebench.verdict.rules.software import software
from sitebench.verdict.warning import PointWarning
from sitebench.verdict.warnings import find_warnings

LEAK = "leak"
"""A response held another person's data; such a point fails whatever its rate."""


class Bound(StrEnum):
    """What limited the rate."""

    TARGET_CPU = "target-cpu"
    NETWORK = "network"
    MEMORY = "memory"
    OPERATING_SYSTEM = "operating-system"
    SOFTWARE = "software"
    DISK = "disk"
    GENERATOR = "generator"
    SCHEDULE = "schedule"
    UNSETTLED = "unsettled"
    FAILED = "failed"
    LEAK = "leak"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Verdict:
    """What limited the point, whether the figure is the target's, and why."""

    bound: str
    valid: bool
    evidence: str
    findings: tuple[Finding, ...] = ()
    warnings: tuple[PointWarning, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the verdict's part of the object that a point is kept as."""
        return {
            "verdict": self.bound,
            "valid": self.valid,
            "evidence": self.evidence,
            "bottlenecks": [asdict(each) for each in self.findings],
            "warnings": [each.to_json() for each in self.warnings],
        }

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Verdict:
        """Read what `to_json` wrote."""
        names = {"bound": "verdict", "findings": "bottlenecks"}
        return msgspec.convert(
            {**found, **{field: found[name] for field, name in names.items()}}, cls
        )


def judge(window: Evidence, known: Sequence[PointWarning] = ()) -> Verdict:
    """Judge one window; `known` are warnings that only the suite can know of."""
    if leaks := window.failures.get(LEAK):
        return Verdict(Bound.LEAK, False, f"{leaks:,} pages showed another user's data")
    if window.operations == 0:
        kinds = ", ".join(f"{kind} x {n:,}" for kind, n in sorted(window.failures.items()))
        nothing = f"succeeded: {kinds}" if kinds else "finished within the window"
        return Verdict(Bound.FAILED, False, f"no operation {nothing}")
    tester = generator(window)
    findings = _findings(window, tester)
    spoiling = next((each for each in known if each.spoils), None)
    if spoiling is not None:
        verdict = Verdict(Bound.FAILED, False, spoiling.message)
    elif window.settled is not None and window.settled.state == Steadiness.UNSETTLED:
        # There was no single rate that a resource could limit.
        verdict = Verdict(Bound.UNSETTLED, False, window.settled.evidence)
    else:
        verdict = _bound(window, tester, findings)
    return replace(verdict, findings=findings, warnings=(*find_warnings(window), *known))


def _findings(window: Evidence, tester: Generator) -> tuple[Finding, ...]:
    """Judge every resource, in the order of the paper's tables."""
    first = (cpu(window), network(window), memory(window))
    disks = disk(window)
    used_up = first[0].grade == Grade.PRIMARY
    kernel = operating_system(window, cpu_used_up=used_up)
    pressed = used_up or not (tester.used_up or schedule_kept(window) or window.thinks)
    return (*first, kernel, software(window, (*first, kernel, disks), pressed=pressed), disks)


def _bound(window: Evidence, tester: Generator, findings: Sequence[Finding]) -> Verdict:
    """Weigh the generator against the target's resources."""
    evidence = {finding.resource: finding.evidence for finding in findings}
    used_up = [finding.resource for finding in findings if finding.grade == Grade.PRIMARY]
    failed = f"; {window.failed:,} operations failed" if window.failed else ""
    both = f"{evidence[Resource.CPU]}; {tester.message}{failed}"
    if tester.starved:
        others = f"other programs used {window.others_cores:.2f} cores of this machine"
        why = f"{both}: {others}; the result says nothing about the target"
        return Verdict(Bound.GENERATOR, False, why)
    if tester.used_up and not used_up:
        return Verdict(Bound.GENERATOR, False, f"{both}: the tester was the limit")
    if schedule_kept(window) and not tester.used_up:
        return Verdict(Bound.SCHEDULE, True, f"the schedule's rate was kept; {both}")
    if len(used_up) != 1 or tester.used_up:
        return _undecided(tester, used_up, both)
    if used_up == [Resource.CPU]:
        return Verdict(Bound.TARGET_CPU, True, both)
    return Verdict(Bound(used_up[0]), True, f"{evidence[used_up[0]]}; {both}")


def _undecided(tester: Generator, used_up: Sequence[str], both: str) -> Verdict:
    """Return that no resource, or more than one, was used up."""
    names = ("CPU" if each == Resource.CPU else each for each in used_up)
    full = [*(["the tester"] if tester.used_up else []), *(f"the target's {n}" for n in names)]
    what = f"{' and '.join(full)} are used up" if full else "no monitored resource is used up"
    return Verdict(Bound.UNDECIDED, True, f"{what}; {both}")
