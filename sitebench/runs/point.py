"""A point: one measurement. Its specification, its result, and the JSON in which both are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from sitebench.counts.durations import Durations
from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.steady import Settled
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor import Use
from sitebench.units import format_size
from sitebench.verdict.verdict import Verdict


@dataclass(frozen=True)
class PointSpec:
    """What is measured: target x size x operation x load.

    `settings` are all identifying options as text. `repeat` counts measurements of the same thing
    from 0: repeats differ in nothing else, and each has its own target opened anew.

    Numbers are `int | float`, so that they are read as they were written: the key is a hash of the
    text, in which 5 and 5.0 are different.
    """

    half: str
    """The name of the suite; run files had this key before there were suites."""
    operation: str
    entries: int
    target: str
    users: int
    rate: int | float | None
    warmup_s: int | float
    measure_s: int | float
    client: str = "native"
    settings: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0

    def canonical(self) -> str:
        """Return the specification as JSON: equal specifications give equal text."""
        found = asdict(self)
        if not self.repeat:
            del found["repeat"]  # Points measured before there were repeats keep their keys.
        return json.dumps(found, sort_keys=True, separators=(",", ":"))

    @property
    def what(self) -> str:
        """Its operation, and how many people the target holds if any: `lookup at 10k`."""
        size = f" at {format_size(self.entries)}" if self.entries else ""
        return f"{self.operation}{size}"

    @property
    def size(self) -> int:
        """Where it lies on its curve: how many people, or clients where a target holds none."""
        return self.entries or self.users

    @property
    def clients(self) -> str:
        return f"{self.users:,} {'client' if self.users == 1 else 'clients'}"

    @property
    def title(self) -> str:
        """Return its operation and size in words."""
        return self.what if self.entries else f"{self.operation}, {self.clients}"

    @property
    def key(self) -> str:
        """Name of the point in a run file."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:20]

    @classmethod
    def read(cls, text: str) -> PointSpec:
        """Read what `canonical` wrote; keys of a newer version are ignored."""
        return msgspec.json.decode(text, type=cls)


@dataclass(frozen=True)
class StepResult:
    """One step of the sequence within the window."""

    program: str
    step: str
    count: int
    failures: int
    per_s: float
    service: Durations
    processing_us: float | None
    censored: Durations
    counted: bool
    """Whether this step stands for an operation."""
    overlaps: bool = False
    """Whether its time is that of other steps too: a whole pass, or a phase of a request."""

    def to_json(self) -> dict[str, Any]:
        """Return what the run file keeps; results written before there were phases stay as read."""
        found = asdict(self)
        if not self.overlaps:
            del found["overlaps"]
        return found


_JSON_NAMES = {
    "seconds": "measure_s",
    "latency": "latency_us",
    "service": "service_us",
    "lag": "lag_us",
    "censored": "censored_us",
    "use": "resources",
}
"""Fields of a result that have another name in its JSON."""


@dataclass(frozen=True, kw_only=True)
class PointResult:
    """What one point gave: every figure that a table or a report shows of it is in here.

    `measure.summarise` makes it of a measured window.
    """

    spec: PointSpec

    seconds: float
    operations: int
    failures_by_kind: Mapping[str, int]
    bytes_out: int
    bytes_in: int
    steps: tuple[StepResult, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What only this suite's tables know, such as pages per second."""

    latency: Durations
    service: Durations
    lag: Durations
    censored: Durations
    """Time waited for operations that were given up, which the other clocks do not count."""
    processing_us: float | None = None
    """The engine's own time per operation: from what let a lane go on to its next request."""

    engine_cpu_s: tuple[float, ...]
    """CPU seconds of each thread that makes load."""
    use: Use
    workers: tuple[WorkerSeen, ...] = ()
    """The processes that made the load, where it was not this one alone."""

    settled: Settled
    little: LittlesLaw | None = None
    verdict: Verdict

    @property
    def failures(self) -> int:
        """Failed steps of every kind, whichever step of the sequence they were."""
        return sum(self.failures_by_kind.values())

    @property
    def ops_per_s(self) -> float:
        """Successful operations per second of the window."""
        return self.operations / self.seconds if self.seconds else 0.0

    @property
    def cpu_us_per_op(self) -> float | None:
        """CPU of the threads that made the load, per operation."""
        if not self.operations:
            return None
        return sum(self.engine_cpu_s) / self.operations * 1e6

    @property
    def headroom(self) -> float | None:
        """Share of its time that the busiest of those threads was free: the rest of the ceiling."""
        if not self.engine_cpu_s or not self.seconds:
            return None
        return max(0.0, 1.0 - max(self.engine_cpu_s) / self.seconds)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints and the run file keeps."""
        spec, use = self.spec, self.use
        return {
            "operation": spec.operation,
            "entries": spec.entries,
            "ops_per_s": self.ops_per_s,
            "operations": self.operations,
            "failures": self.failures,
            "failures_by_kind": dict(self.failures_by_kind),
            "latency_us": asdict(self.latency),
            "service_us": asdict(self.service),
            "lag_us": asdict(self.lag),
            "censored_us": asdict(self.censored),
            "processing_us": self.processing_us,
            "settled": asdict(self.settled),
            "little": None if self.little is None else asdict(self.little),
            "bytes_in_per_s": self.bytes_in / self.seconds if self.seconds else 0.0,
            "bytes_out_per_s": self.bytes_out / self.seconds if self.seconds else 0.0,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "generator": {
                "client": spec.client,
                "cpu_us_per_op": self.cpu_us_per_op,
                "headroom": self.headroom,
                "cpu_s_per_thread": list(self.engine_cpu_s),
                "process_cpu_s": use.generator.cpu_s,
            },
            "target": {
                "name": spec.target,
                "cpu_percent": use.target_cpu_percent,
                "cpu_s": use.target_cpu_s,
                "resident_bytes": use.target_rss,
            },
            "machine": {"available_bytes": use.available, "busy_cores": use.machine.busy_cores},
            "resources": use.to_json(),
            **self.verdict.to_json(),
            **({"workers": [each.to_json() for each in self.workers]} if self.workers else {}),
            "users": spec.users,
            "rate": spec.rate,
            "schedule": "closed" if spec.rate is None else "open",
            "warmup_s": spec.warmup_s,
            "measure_s": self.seconds,
            "steps": [step.to_json() for step in self.steps],
            "figures": dict(self.figures),
            "spec": asdict(spec),
        }

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> PointResult:
        """Read what `to_json` wrote; keys of a newer version are ignored."""
        renamed = {own: found[name] for own, name in _JSON_NAMES.items()}
        engine_cpu_s = found["generator"]["cpu_s_per_thread"]
        own = {**renamed, "engine_cpu_s": engine_cpu_s, "verdict": Verdict.read(found)}
        return msgspec.convert({**found, **own}, cls)
