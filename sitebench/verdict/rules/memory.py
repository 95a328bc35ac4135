"""Memory: the available memory at the end, as in the paper, and waits for pages.

The paper's sign of a shortage is perfmon's Pages/sec: swap and major faults. As in the paper, many
faults with much available memory come from mapped files: they are judged as disk traffic.
"""

from __future__ import annotations

from functools import partial

from sitebench.monitor.use import MachineUse
from sitebench.units import format_bytes, format_rate
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource, grade
from sitebench.verdict.rules.thresholds import STALLED_MOST, STALLED_SOME
from sitebench.verdict.rules.wording import share

_finding = partial(Finding, Resource.MEMORY)

_SCARCE = 0.05
"""If a smaller share of memory is available, the kernel reclaims pages of files in use."""


def memory(window: Evidence) -> Finding:
    machine = window.target_machine
    if machine is None:
        return _finding(Grade.UNKNOWN, "no data about the memory of the target's machine")
    text = format_bytes(machine.available_bytes)
    if machine.total_bytes:
        text += f" of {format_bytes(machine.total_bytes)}"
    text += " available at the end"
    stalled = window.pressure("memory.some") or 0.0
    if stalled >= STALLED_SOME:
        text += f"; tasks waited for memory {share(stalled)} of the time"
        return _finding(grade(stalled, STALLED_SOME, STALLED_MOST), text)
    swapped = ((machine.swapped_in or 0) + (machine.swapped_out or 0)) / window.seconds
    if swapped >= 1:
        return _finding(Grade.POSSIBLE, f"{text}; {format_rate(swapped)} pages/s swapped")
    return _by_faults(window, machine, text)


def _by_faults(window: Evidence, machine: MachineUse, text: str) -> Finding:
    """Grade reads of pages from disk: of mapped files, or for lack of memory."""
    major = machine.major_faults
    if (target := window.use.target) is not None and target.major_faults is not None:
        major = target.major_faults
    if major is None:
        return _finding(Grade.NO, f"{text}; nothing was swapped")
    faults = major / window.seconds
    text = f"{text}; {format_rate(faults) if faults else 'no'} pages/s from disk"
    if faults < max(1.0, STALLED_SOME * window.operations / window.seconds):
        return _finding(Grade.NO, text)
    if machine.total_bytes and machine.available_bytes / machine.total_bytes < _SCARCE:
        return _finding(Grade.POSSIBLE, f"{text}: its files do not fit into memory")
    return _finding(Grade.NO, f"{text}: mapped files being read, see the disk")
