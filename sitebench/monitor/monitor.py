"""The monitor: which sources are read once a second."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sitebench.monitor.background import Background, Probe
from sitebench.monitor.exporter import Exporter
from sitebench.monitor.handshake import Handshakes
from sitebench.monitor.machine import MachineReader, NetworkReader, network_namespace
from sitebench.monitor.process import ProcessReader, Stalls
from sitebench.monitor.sample import MachineSample, ProcessSample, Sample

_STALLS_S = 0.1
"""How often the states of the target's threads are read, to see those that wait for a disk."""

_FIRST_ANSWER_S = 2.0
"""Time limit for a first answer from other machines, before the load begins."""


class Monitor:
    """Samples this process, this machine and, where it runs on it, the target's family.

    `address` is where the target listens, for round trips; `exporter` is the address of a
    node_exporter on the target's machine. `probe` reads counters of the target itself.
    """

    def __init__(
        self,
        target_pid: int | None,
        address: tuple[str, int] | None = None,
        *,
        exporter: str | None = None,
        probe: Probe | None = None,
    ) -> None:
        self._generator = ProcessReader(os.getpid(), family=False)
        self._target = None if target_pid is None else ProcessReader(target_pid, family=True)
        self._machine = MachineReader()
        self._target_network = _other_network(target_pid)
        self._handshakes = None if address is None else Handshakes(*address)
        self._remote = None if exporter is None else _asking(Exporter(exporter))
        self._probe = None if probe is None else Background(probe.source, probe.read, probe.close)
        self._stalls = None if self._target is None else _stalls(self._target)
        for source in self._sources:
            source.wait_first(_FIRST_ANSWER_S)

    @property
    def _sources(self) -> list[Background[MachineSample] | Background[Mapping[str, float]]]:
        return [each for each in (self._remote, self._probe) if each is not None]

    def sample(self, *, thorough: bool = False) -> Sample:
        """Read every counter now; `thorough`, at a window's bounds, includes the expensive ones."""
        target = None if self._target is None else self._target.read()
        network = None
        if target is not None and self._target_network is not None:
            network = self._target_network.read()
        return Sample(
            target,
            self._generator.read() or ProcessSample(0.0, 0.0, 0),
            self._machine.read(thorough=thorough),
            None if self._remote is None else self._remote.latest,
            network,
            None if self._probe is None else self._probe.latest,
            tuple(each.answers for each in self._sources if each.offered),
            None if self._handshakes is None else self._handshakes.read(),
        )

    def close(self) -> None:
        if self._handshakes is not None:
            self._handshakes.close()
        if self._stalls is not None:
            self._stalls.close()
        for source in self._sources:
            source.close()


def _stalls(target: ProcessReader) -> Background[Stalls]:
    return Background("the target's threads", target.stalls.look, lambda: None, _STALLS_S)


def _asking(exporter: Exporter) -> Background[MachineSample]:
    return Background(f"node_exporter at {exporter.url}", exporter.read, exporter.close)


def _other_network(pid: int | None) -> NetworkReader | None:
    """Return a reader of the target's network namespace if it is not this process's."""
    if pid is None:
        return None
    namespace = network_namespace(pid)
    return None if namespace in (None, network_namespace("self")) else NetworkReader(pid)
