"""The monitor: sources that are read once a second, slow ones each in a thread of its own.

A sample has a slow source's last answer: one that does not answer loses its figures and delays
nothing, except the first answer, before the load begins. In a process that gevent has patched the
thread is a greenlet.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from sitebench.monitor.behind import Behind, Program
from sitebench.monitor.handshake import Handshakes
from sitebench.monitor.machine import MachineReader, NetworkReader, network_namespace
from sitebench.monitor.process import ProcessReader, Stalls
from sitebench.monitor.reached import interface_to
from sitebench.monitor.sample import Answers, MachineSample, ProcessSample, Sample

T = TypeVar("T")
_PERIOD_S = 1.0

_STALLS_S = 0.1
"""Interval of reading the states of the target's threads."""

_BEHIND_S = 0.25
"""Least interval of looking at the target's connections."""

_FIRST_ANSWER_S = 2.0
"""Time limit for a first answer from other machines, before the load begins."""


class Probe(Protocol):
    """Counters that a target reports of itself."""

    @property
    def source(self) -> str:
        """Its name in messages."""

    def read(self) -> Mapping[str, float] | None:
        """Return the values now: names that end in `_total` are counters, others gauges.

        None if the target does not offer them to this user: it is not read again. Any exception
        counts as a missing answer.
        """

    def close(self) -> None: ...


class _Background(Generic[T]):
    """One source and its last answer."""

    def __init__(
        self,
        source: str,
        ask: Callable[[], T | None],
        hang_up: Callable[[], None] = lambda: None,
        period_s: float = _PERIOD_S,
    ) -> None:
        self.latest: T | None = None
        self.offered = True
        self._ask = ask
        self._hang_up = hang_up
        self._period_s = period_s
        self.answers = Answers(source, 0, 0, "")
        """Of requests that have ended."""
        self._stop = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)
        self._thread.start()

    def wait_first(self) -> None:
        self._first.wait(_FIRST_ANSWER_S)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(2 * self._period_s)

    def _run(self) -> None:
        try:
            while self._ask_once() and not self._stop.wait(self._period_s):
                pass
        finally:
            self._hang_up()

    def _ask_once(self) -> bool:
        """Ask once; return whether to ask again."""
        missing, reason = self.answers.missing, self.answers.reason
        try:
            answer = self._ask()
            if answer is None:
                self.offered = False
                return False
            self.latest = answer
        except Exception as error:  # a fault of another machine must not end the run
            missing, reason = missing + 1, str(error) or type(error).__name__
        finally:
            # A request under way when a window ends is neither answered nor missing.
            self.answers = Answers(self.answers.source, self.answers.asked + 1, missing, reason)
            self._first.set()
        return True


class Monitor:
    """Samples this process, this machine and, where it runs on it, the target's family.

    `address` is the target's, for round trips; `exporter` is the address of a node_exporter on the
    target's machine. `probe` reads counters of the target itself.
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
        self._interface = None if address is None else interface_to(*address)
        self._remote: _Background[MachineSample] | None = None
        if exporter is not None:
            from sitebench.monitor.exporter import Exporter

            remote = Exporter(exporter)
            name = f"node_exporter at {remote.url}"
            self._remote = _Background(name, remote.read, remote.close)
        self._probe = None if probe is None else _Background(probe.source, probe.read, probe.close)
        self._programs: _Background[tuple[Program, ...]] | None = None
        self._stalls: _Background[Stalls] | None = None
        if self._target is not None:
            stalls, peers = self._target.stalls, Behind(self._target)
            self._stalls = _Background("target's threads", stalls.look, period_s=_STALLS_S)
            self._programs = _Background("target's peers", peers.look, period_s=_BEHIND_S)
        for source in self._sources:
            source.wait_first()

    @property
    def _sources(self) -> list[_Background[MachineSample] | _Background[Mapping[str, float]]]:
        return [source for source in (self._remote, self._probe) if source is not None]

    def sample(self, *, thorough: bool = False) -> Sample:
        """Read every counter now; `thorough`, at a window's bounds: the expensive ones too."""
        target = None if self._target is None else self._target.read()
        network = None
        if target is not None and self._target_network is not None:
            network = self._target_network.read()
        programs = None if self._programs is None else self._programs.latest
        return Sample(
            target,
            self._generator.read() or ProcessSample(0.0, 0.0, 0),
            self._machine.read(thorough=thorough),
            None if self._remote is None else self._remote.latest,
            network,
            None if self._probe is None else self._probe.latest,
            tuple(source.answers for source in self._sources if source.offered),
            None if self._handshakes is None else self._handshakes.read(),
            self._interface,
            tuple(sample for program in programs or () if (sample := program.sample())),
        )

    def close(self) -> None:
        for source in (self._handshakes, self._stalls, self._programs, *self._sources):
            if source is not None:
                source.close()


def _other_network(pid: int | None) -> NetworkReader | None:
    """Return a reader of the target's network namespace if it is not this process's."""
    if pid is None:
        return None
    namespace = network_namespace(pid)
    return None if namespace in (None, network_namespace("self")) else NetworkReader(pid)
