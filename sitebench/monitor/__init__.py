"""Resource use of target, load generator and machines, sampled once a second.

A `Monitor` takes a `Sample` of cumulative counters; `use_between` turns two of them into the `Use`
of a window. docs/monitor.md has the source of each figure.
"""

from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor, Probe
from sitebench.monitor.reached import listener
from sitebench.monitor.sample import Changes, MachineSample, ProcessSample, Row, Sample
from sitebench.monitor.use import BehindUse, DiskUse, Gap, InterfaceUse, MachineUse, ProcessUse, Use

__all__ = [
    "BehindUse",
    "Changes",
    "DiskUse",
    "Gap",
    "InterfaceUse",
    "MachineSample",
    "MachineUse",
    "Monitor",
    "Probe",
    "ProcessSample",
    "ProcessUse",
    "Row",
    "Sample",
    "Use",
    "listener",
    "use_between",
]
