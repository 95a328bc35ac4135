"""The monitor reads its sources once a second, and each slow source in a thread of its own.

A sample has the last answer of a slow source, so a source that hangs does not delay samples. It
delays the start, which waits for a first answer. In a process that gevent has patched the thread is
a greenlet.
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
"""Interval between readings of the target's thread states."""

_BEHIND_S = 0.25
"""Shortest interval between readings of the target's connections."""

_FIRST_ANSWER_S = 2.0
"""Time limit for a first answer from a slow source, before the load begins."""


class Probe(Protocol):
    @property
    def source(self) -> str:
        """The name of the source in messages."""

    def read(self) -> Mapping[str, float] | None:
        """Return the values now: names that end in `_total` are counters, other names gauges.

        Return None if the target does not show the values to this user; `read` is not called again
        then. An exception counts as a missing answer.
        """

    def close(self) -> None: ...


class _Background(Generic[T]):
    """A slow source and its last answer."""

    def __init__(
        self,
        source: str,
        read: Callable[[], T | None],
        disconnect: Callable[[], None] = lambda: None,
        period_s: float = _PERIOD_S,
    ) -> None:
        self.latest: T | None = None
        self.offered = True
        self._read, self._disconnect, self._period_s = read, disconnect, period_s
        self.answers = Answers(source, 0, 0, "")
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
            while self._read_once() and not self._stop.wait(self._period_s):
                pass
        finally:
            self._disconnect()

    def _read_once(self) -> bool:
        """Read the source; return whether to read it again."""
        missing, reason = self.answers.missing, self.answers.reason
        try:
            answer = self._read()
            if answer is None:
                self.offered = False
                return False
            self.latest = answer
        except Exception as error:  # a fault of another machine must not end the run
            missing, reason = missing + 1, str(error) or type(error).__name__
        finally:
            # A request under way at the end of a window is neither answered nor missing.
            self.answers = Answers(self.answers.source, self.answers.asked + 1, missing, reason)
            self._first.set()
        return True


class Monitor:
    """Samples this process, this machine and, if the target runs here, the target's processes.

    `address` is the target's, for round trips; `exporter` is the address of a node_exporter on the
    target's machine.
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
        """Read the counters now; if `thorough`, at the bounds of a window, slow counters too."""
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
    """Return a reader of the target's network namespace, if it is not this process's namespace."""
    if pid is None:
        return None
    namespace = network_namespace(pid)
    return None if namespace in (None, network_namespace("self")) else NetworkReader(pid)
