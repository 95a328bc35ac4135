"""Memory: what is available at the end, as the paper has it, and whether anybody waits for pages.

Its sign of want is perfmon's Pages/sec, pages fetched from disk: swap and major faults today. Like
the paper, a high rate of faults with much memory left is put down to files that are mapped, and
so to the disk.
"""

from __future__ import annotations

from sitebench.monitor import MachineUse
from sitebench.units import format_bytes, format_rate
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import STALLED_MOST, STALLED_SOME
from sitebench.verdict.rules.wording import share

SCARCE = 0.05
"""Less than this share available, and the kernel takes pages away from files in use."""


def memory(seen: Evidence) -> Finding:
    """Return whether the target's machine lacks memory."""
    machine = seen.target_machine
    if machine is None:
        return _found(Grade.UNKNOWN, "nothing tells of memory where the target is")
    said = f"{_available(machine)} available at the end"
    stalled = seen.pressure("memory.some") or 0.0
    if stalled >= STALLED_SOME:
        grade = Grade.PRIMARY if stalled >= STALLED_MOST else Grade.POSSIBLE
        return _found(grade, f"{said}; tasks waited for memory {share(stalled)} of the time")
    swapped = ((machine.swapped_in or 0) + (machine.swapped_out or 0)) / seen.seconds
    if swapped >= 1:
        return _found(Grade.POSSIBLE, f"{said}; {format_rate(swapped)} pages/s swapped")
    return _by_faults(seen, machine, said)


def _by_faults(seen: Evidence, machine: MachineUse, said: str) -> Finding:
    """Grade pages that came from disk: of mapped files, or for want of memory."""
    faults = _major_faults(seen)
    if faults is None:
        return _found(Grade.NO, f"{said}; nothing was swapped")
    said = f"{said}; {format_rate(faults) if faults else 'no'} pages/s from disk"
    if faults < max(1.0, STALLED_SOME * seen.operations / seen.seconds):
        return _found(Grade.NO, said)
    if _left(machine) < SCARCE:
        return _found(Grade.POSSIBLE, f"{said}: its files do not fit into memory")
    return _found(Grade.NO, f"{said}: mapped files being read, see the disk")


def _major_faults(seen: Evidence) -> float | None:
    target, machine = seen.use.target, seen.target_machine
    if target is not None and target.major_faults is not None:
        return target.major_faults / seen.seconds
    if machine is not None and machine.major_faults is not None:
        return machine.major_faults / seen.seconds
    return None


def _left(machine: MachineUse) -> float:
    return machine.available_bytes / machine.total_bytes if machine.total_bytes else 1.0


def _available(machine: MachineUse) -> str:
    if not machine.total_bytes:
        return format_bytes(machine.available_bytes)
    return f"{format_bytes(machine.available_bytes)} of {format_bytes(machine.total_bytes)}"


def _found(grade: Grade, said: str) -> Finding:
    return Finding(Resource.MEMORY, grade, said)
