"""What the bottleneck was: a typed answer, the evidence for it, and the warnings.

Rules judge one resource each (`sitebench.verdict.rules`), and one judges the generator; this
combines them. docs/verdict.md says how, with every threshold and where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sitebench.counts.steady import State
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.cpu import cpu
from sitebench.verdict.rules.disk import disk
from sitebench.verdict.rules.generator import Generator, generator, kept
from sitebench.verdict.rules.memory import memory
from sitebench.verdict.rules.network import network
from sitebench.verdict.rules.operating_system import operating_system
from sitebench.verdict.rules.software import software
from sitebench.verdict.warnings import Doubt, doubts

__all__ = ["LEAK", "Bound", "Evidence", "Finding", "Grade", "Resource", "Verdict", "judge"]

LEAK = "leak"
"""The failure that no number makes up for: somebody was shown what is another's."""


class Bound(StrEnum):
    """What held the rate where it was."""

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
    """What bound the point, whether the number is the target's, and why."""

    bound: str
    valid: bool
    evidence: str
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the verdict's part of the object that a point is kept as."""
        return {
            "verdict": self.bound,
            "valid": self.valid,
            "evidence": self.evidence,
            "bottlenecks": [finding.to_json() for finding in self.findings],
            "warnings": [doubt.to_json() for doubt in self.doubts],
        }

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Verdict:
        """Read what `to_json` wrote, or an older version did: it knew of the bound only."""
        return cls(
            found["verdict"],
            found["valid"],
            found["evidence"],
            tuple(Finding.read(each) for each in found.get("bottlenecks", ())),
            tuple(Doubt.read(each) for each in found.get("warnings", ())),
        )


@dataclass(frozen=True)
class _Said:
    """What bound a point, before anything beside it is said."""

    bound: Bound
    valid: bool
    evidence: str


def judge(seen: Evidence, known: Sequence[Doubt] = ()) -> Verdict:
    """Pass the verdict on one window; `known` are doubts that only the half could have."""
    if leaks := seen.failures.get(LEAK):
        return Verdict(Bound.LEAK, False, f"{leaks:,} pages showed another user's data")
    if seen.operations == 0:
        return Verdict(Bound.FAILED, False, _nothing(seen.failures))
    tester = generator(seen)
    findings = _findings(seen, tester)
    said = _unsettled(seen) or _bound(seen, tester, findings)
    return Verdict(said.bound, said.valid, said.evidence, findings, (*doubts(seen), *known))


def _findings(seen: Evidence, tester: Generator) -> tuple[Finding, ...]:
    """Judge every resource, in the order of the papers' tables."""
    first = (cpu(seen), network(seen), memory(seen))
    disks = disk(seen)
    used_up = first[0].grade == Grade.PRIMARY
    kernel = operating_system(seen, cpu_used_up=used_up)
    pressed = used_up or not (tester.used_up or kept(seen) or seen.thinks)
    return (*first, kernel, software(seen, (*first, kernel, disks), pressed=pressed), disks)


def _unsettled(seen: Evidence) -> _Said | None:
    """Return that there is no one rate that anything could have bound."""
    if seen.settled is None or seen.settled.state != State.UNSETTLED:
        return None
    return _Said(Bound.UNSETTLED, False, seen.settled.evidence)


def _bound(seen: Evidence, tester: Generator, findings: Sequence[Finding]) -> _Said:
    """Weigh the generator against the target's resources."""
    said = {finding.resource: finding.evidence for finding in findings}
    used_up = [finding.resource for finding in findings if finding.grade == Grade.PRIMARY]
    failed = f"; {seen.failed:,} operations failed" if seen.failed else ""
    both = f"{said[Resource.CPU]}; {tester.said}{failed}"
    if tester.starved:
        robbed = f"other programs had {seen.others_cores:.2f} cores of this machine"
        return _Said(Bound.GENERATOR, False, f"{both}: {robbed}, and the number is theirs")
    if tester.used_up and not used_up:
        return _Said(Bound.GENERATOR, False, f"{both}: the number is the tester's")
    if kept(seen) and not tester.used_up:
        return _Said(Bound.SCHEDULE, True, f"the schedule's rate was kept; {both}")
    if len(used_up) != 1 or tester.used_up:
        return _undecided(tester, used_up, both)
    if used_up == [Resource.CPU]:
        return _Said(Bound.TARGET_CPU, True, both)
    return _Said(Bound(used_up[0]), True, f"{said[used_up[0]]}; {both}")


def _undecided(tester: Generator, used_up: Sequence[str], both: str) -> _Said:
    """Return that nothing, or more than one thing, was used up."""
    names = ("CPU" if each == Resource.CPU else each for each in used_up)
    full = [*(["the tester"] if tester.used_up else []), *(f"the target's {n}" for n in names)]
    what = f"{' and '.join(full)} are used up" if full else "nothing watched is used up"
    return _Said(Bound.UNDECIDED, True, f"{what}; {both}")


def _nothing(failures: Mapping[str, int]) -> str:
    if not failures:
        return "no operation ended within the window"
    kinds = ", ".join(f"{kind} x {n:,}" for kind, n in sorted(failures.items()))
    return f"no operation succeeded: {kinds}"
