"""A point: one measurement. Its specification, its result, and the JSON both are kept as."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sitebench.counts.durations import NOTHING, Durations
from sitebench.counts.littles_law import Little, little
from sitebench.counts.source import SEQUENCE
from sitebench.counts.steady import UNKNOWN, Settled, settle
from sitebench.counts.tally import StepTotals, Tally
from sitebench.monitor import Use
from sitebench.system.fields import known
from sitebench.system.network import local_ports
from sitebench.verdict.verdict import Evidence, Verdict, judge
from sitebench.verdict.warning import Doubt
from sitebench.verdict.workers import WorkerSeen, judged, use_of_all


@dataclass(frozen=True)
class PointSpec:
    """What is measured: target x size x operation x load.

    `settings` are all identifying options as text, so that two points with equal keys were
    asked for with equal words. `repeat` counts measurements of the same thing from 0: repeats
    differ in nothing else, and each has its own target opened anew.
    """

    half: str
    operation: str
    entries: int
    target: str
    users: int
    rate: float | None
    warmup_s: float
    measure_s: float
    client: str = "native"
    settings: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0

    def canonical(self) -> str:
        """Return the specification as JSON, always with the same letters."""
        found = dataclasses.asdict(self)
        if not self.repeat:
            del found["repeat"]  # Points measured before there were repeats keep their keys.
        return json.dumps(found, sort_keys=True, separators=(",", ":"))

    @property
    def key(self) -> str:
        """Name of the point in a run file."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:20]

    @classmethod
    def read(cls, text: str) -> PointSpec:
        """Read what `canonical` wrote."""
        return cls(**known(cls, json.loads(text)))


@dataclass(frozen=True)
class StepResult:
    """One step of the sequence within the window."""

    program: str
    step: str
    count: int
    failures: int
    per_s: float
    service: Durations
    processing_us: float | None = None
    censored: Durations = NOTHING
    counted: bool = False
    """Whether this step stands for an operation."""

    def to_json(self) -> dict[str, Any]:
        """Return the object of this step, its clocks summarised."""
        plain = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return plain | {"service": self.service.to_json(), "censored": self.censored.to_json()}

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> StepResult:
        """Read what `to_json` wrote."""
        clocks = {name: Durations.read(found[name]) for name in ("service", "censored")}
        return cls(**{**known(cls, found), **clocks})


@dataclass(frozen=True)
class PointResult:
    """What one point gave; everything a table or a report says about it is in here."""

    spec: PointSpec
    seconds: float
    operations: int
    failures_by_kind: Mapping[str, int]
    bytes_out: int
    bytes_in: int
    latency: Durations
    service: Durations
    lag: Durations
    engine_cpu_s: tuple[float, ...]
    use: Use
    verdict: Verdict
    steps: tuple[StepResult, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    """What only this half's papers know, such as pages per second."""
    processing_us: float | None = None
    """The engine's own time per operation: from what let a lane go on to its next request."""
    censored: Durations = NOTHING
    """Waited in vain: operations without an answer, which the other clocks do not count."""
    settled: Settled = UNKNOWN
    little: Little | None = None
    workers: tuple[WorkerSeen, ...] = ()
    """Who made the load, where it was not this process alone."""

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
            "latency_us": self.latency.to_json(),
            "service_us": self.service.to_json(),
            "lag_us": self.lag.to_json(),
            "censored_us": self.censored.to_json(),
            "processing_us": self.processing_us,
            "settled": self.settled.to_json(),
            "little": None if self.little is None else self.little.to_json(),
            "bytes_in_per_s": self.bytes_in / self.seconds if self.seconds else 0.0,
            "bytes_out_per_s": self.bytes_out / self.seconds if self.seconds else 0.0,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "generator": {
                "client": spec.client,
                "cpu_us_per_op": self.cpu_us_per_op,
                "headroom": self.headroom,
                "cpu_s_per_thread": list(self.engine_cpu_s),
                "process_cpu_s": use.generator_cpu_s,
            },
            "target": {
                "name": spec.target,
                "cpu_percent": use.target_cpu_percent,
                "cpu_s": use.target_cpu_s,
                "resident_bytes": use.target_rss,
            },
            "machine": {"available_bytes": use.available, "busy_cores": use.busy_cores},
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
            "spec": dataclasses.asdict(spec),
        }

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> PointResult:
        """Read what `to_json` wrote."""
        return cls(
            PointSpec(**known(PointSpec, found["spec"])),
            found["measure_s"],
            found["operations"],
            found["failures_by_kind"],
            found["bytes_out"],
            found["bytes_in"],
            Durations.read(found["latency_us"]),
            Durations.read(found["service_us"]),
            Durations.read(found["lag_us"]),
            tuple(found["generator"]["cpu_s_per_thread"]),
            Use.read(found["resources"]),
            Verdict.read(found),
            tuple(StepResult.read(step) for step in found["steps"]),
            found["figures"],
            found["processing_us"],
            Durations.read(found["censored_us"]),
            Settled.read(found["settled"]),
            Little.read(found["little"]),
            tuple(WorkerSeen.read(each) for each in found.get("workers", ())),
        )


def summarise(
    spec: PointSpec,
    tally: Tally,
    counts: Iterable[tuple[str, str]],
    use: Use,
    *,
    target_cores: int | None,
    native: bool,
    figures: Mapping[str, Any] | None = None,
    doubts: Sequence[Doubt] = (),
    workers: Sequence[WorkerSeen] = (),
) -> PointResult:
    """Turn a measured window into a result, verdict included; `doubts` are the half's own."""
    counts = tuple(counts)
    use = use_of_all(use, workers)
    counted = tally.counted(counts)
    steps = [totals for totals in tally.steps.values() if totals.step != SEQUENCE]
    latency, service = Durations.of(counted.latency), Durations.of(counted.service)
    lag, censored = Durations.of(counted.lag), Durations.of(counted.censored)
    settled = settle(tally.operations(counts))
    law = little(tally.lane_s, tally.clock_s, tally.seconds)
    evidence = Evidence(
        seconds=tally.seconds,
        operations=counted.count - counted.failed,
        failures=dict(sum((totals.failures for totals in steps), Counter[str]())),
        # The portable client is the whole process; the engine is its threads alone.
        generator_cpu_s=tally.thread_cpu_s if native or workers else (use.generator_cpu_s,),
        use=use,
        target_cores=target_cores,
        rate=spec.rate,
        users=spec.users,
        thinks=spec.rate is None and tally.waits,
        bytes_in=sum(totals.bytes_in for totals in steps),
        bytes_out=sum(totals.bytes_out for totals in steps),
        latency=latency,
        service=service,
        lag=lag,
        censored=censored,
        settled=settled,
        little=law,
        longest_drain_s=tally.longest_drain_s,
        local_ports=local_ports(),
    )
    return PointResult(
        spec,
        evidence.seconds,
        evidence.operations,
        evidence.failures,
        evidence.bytes_out,
        evidence.bytes_in,
        latency,
        service,
        lag,
        evidence.generator_cpu_s,
        use,
        judged(judge(evidence, doubts), evidence, workers, int(spec.settings.get("workers", 0))),
        tuple(_step(t, tally.seconds, key in counts) for key, t in tally.steps.items()),
        figures or {},
        _per_operation(steps, counted.count),
        censored,
        settled,
        law,
        tuple(workers),
    )


def _per_operation(steps: Iterable[StepTotals], operations: int) -> float | None:
    """Return the engine's own time per operation, of all steps that led to it."""
    if not operations:
        return None
    return sum(totals.processing_ns for totals in steps) / operations / 1e3


def _step(totals: StepTotals, seconds: float, counted: bool) -> StepResult:
    per_s = (totals.count - totals.failed) / seconds if seconds else 0.0
    return StepResult(
        totals.program,
        totals.step,
        totals.count,
        totals.failed,
        per_s,
        Durations.of(totals.service),
        totals.processing_ns / totals.count / 1e3 if totals.count else None,
        Durations.of(totals.censored),
        counted,
    )
