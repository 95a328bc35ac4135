"""Operating system: refused connections, and the kernel's share of the target's CPU.

The paper has "not enough information": perfmon did not separate the kernel's share of a server's
CPU from the program's share.
"""

from __future__ import annotations

from functools import partial

from sitebench.monitor.use import MachineUse
from sitebench.units import format_rate, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.thresholds import STALLED_SOME
from sitebench.verdict.rules.wording import share

_finding = partial(Finding, Resource.OPERATING_SYSTEM)

_MOST = 0.50
"""With a larger share, the kernel uses more of the CPU than the program."""


def operating_system(window: Evidence, *, cpu_used_up: bool) -> Finding:
    machine = window.target_machine
    if machine is None:
        return _finding(Grade.UNKNOWN, "no data about the kernel of the target's machine")
    signs = []
    if machine.listen_overflows:
        n = plural(machine.listen_overflows, "connection")
        signs.append(f"{n} found the accept queue full")
    stolen = window.stolen_share(machine)
    if stolen >= STALLED_SOME:
        signs.append(f"the hypervisor gave {share(stolen)} of all cores to others")
    if signs:
        return _finding(Grade.POSSIBLE, "; ".join(signs))
    kernel = kernel_share(window)
    text = _switches(window, machine)
    if kernel is None:
        return _finding(Grade.UNKNOWN if cpu_used_up else Grade.NO, text)
    text = f"{share(kernel)} of the target's CPU is the kernel's; {text}"
    heavy = cpu_used_up and kernel >= _MOST
    return _finding(Grade.POSSIBLE if heavy else Grade.NO, text)


def kernel_share(window: Evidence) -> float | None:
    target = window.use.target
    if target is None or target.system_s is None or not target.cpu_s:
        return None
    return min(1.0, target.system_s / target.cpu_s)


def _switches(window: Evidence, machine: MachineUse) -> str:
    parts = []
    if machine.context_switches is not None:
        rate = format_rate(machine.context_switches / window.seconds)
        parts.append(f"{rate} context switches/s")
    if machine.run_queue is not None:
        parts.append(f"run queue {machine.run_queue:.1f}")
    return ", ".join(parts) or "nothing was refused"
