"""perfmon's successor: what target, generator and machine use, once a second.

A `Monitor` takes a `Sample` (cumulative counters), `use_between` makes of two of them the `Use` of
a window. `names` says what the names in the run file mean. docs/monitor.md says where each figure
comes from.
"""

from sitebench.monitor.background import Probe
from sitebench.monitor.between import use_between
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.sample import Changes, MachineSample, ProcessSample, Row, Sample
from sitebench.monitor.use import DiskUse, Gap, InterfaceUse, MachineUse, ProcessUse, Use

__all__ = [
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
    "use_between",
]
