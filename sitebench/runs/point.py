"""A point, one measurement: its specification, its result, and the JSON of both."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable, Mapping, Set
from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict

from sitebench import units
from sitebench.counts import metrics
from sitebench.counts.durations import Durations, clocks
from sitebench.counts.source import SEQUENCE, StepTotals
from sitebench.counts.stages import Stages
from sitebench.counts.steady import Settled
from sitebench.counts.until import Until
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.errors import printable
from sitebench.units import format_rate, format_size, plural
from sitebench.verdict.verdict import Verdict
from sitebench.verdict.window import Window

MOST_FAILURES = 0.01
"""With a larger share of failures, a rate says little about the target."""

METHOD = 2
"""Version of the method; points of different versions are different points.

Version 2: an operation of several steps belongs to the window in which it began, in spite of think
times, and one arrival starts one operation, whichever of its steps is counted.
"""

_NAME = re.compile(r"\w[\w .,:+-]{0,63}")


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of a suite or an operation, also in file names."""
    return _NAME.fullmatch(text) is not None


class PointSpec(msgspec.Struct, frozen=True):
    """A specification: target x size x operation x load.

    `settings` has the settings of `runs.identity` as text. `repeat` counts measurements of the same
    specification from 0; each repeat opens its target again.

    Numbers are `int | float`, and keep the type in which they were written: the key is a hash of
    the text, in which 5 and 5.0 are different.
    """

    suite: str
    operation: str
    entries: int
    target: str
    users: int
    rate: int | float | None
    warmup_s: int | float
    measure_s: int | float
    client: str = "native"
    settings: Mapping[str, str] = {}
    repeat: int = 0
    threads: int | None = None
    """The engine threads of a second try: the load generator was the limit of the first try."""
    method: int = METHOD

    def stored(self) -> str:
        """Return the text of the specification in a run file; the hash of this text is the key."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def of_a_file(self) -> bool:
        """Whether the operations are those of a scenario file, `--mix` or `--filter`."""
        return any(self.settings.get(name) for name in ("scenario", "mix", "filter"))

    @property
    def what(self) -> str:
        """The operation, the number of people, and the variant: `lookup at 10k, argon2:64m`."""
        size = f" at {format_size(self.entries)}" if self.entries else ""
        return f"{self.operation}{size}{self.variant}"

    @property
    def variant(self) -> str:
        """The hash of people's passwords as a part of a name; empty if it is not set."""
        hashed = self.settings.get("hash")
        return f", {hashed}" if hashed else ""

    @property
    def arrivals(self) -> str | None:
        return self.settings.get("arrivals")

    @property
    def until(self) -> Until | None:
        text = self.settings.get("until")
        return None if text is None else Until.parse(text)

    @property
    def stages(self) -> Stages | None:
        """The stages of the load; `rate` is their mean."""
        text = self.settings.get("stages")
        return None if text is None else Stages.parse(text)

    @property
    def timeout_s(self) -> float:
        """The longest wait for an answer, also after the window."""
        return units.parse_duration(self.settings.get("timeout", "0s"))

    @property
    def size(self) -> int:
        """The number of people, or the number of users if the target has no people."""
        return self.entries or self.users

    @property
    def load(self) -> str:
        """The name of its stages, its rate, or its number of users."""
        if self.stages is not None:
            return self.stages.name
        return plural(self.users, "user") if self.rate is None else f"{format_rate(self.rate)}/s"

    @property
    def clients(self) -> str:
        return plural(self.users, "client")

    @property
    def title(self) -> str:
        return self.what if self.entries else f"{self.operation}, {self.clients}"

    def with_repeat(self, name: str) -> str:
        """Return a name of the point, with the number of a repeat after the first."""
        return f"{name}, repeat {self.repeat + 1}" if self.repeat else name

    @property
    def key(self) -> str:
        return hashlib.sha256(self.stored().encode()).hexdigest()[:20]

    @classmethod
    def read(cls, text: str) -> PointSpec:
        """Read the text of `stored`; keys of a newer version are ignored."""
        spec = msgspec.json.decode(text, type=cls)
        for name in (spec.suite, spec.operation):
            if not is_name(name):
                raise ValueError(f"{name!r} is not the name of an operation")
        texts = (spec.target, spec.client, *spec.settings, *spec.settings.values())
        if any(printable(text, len(text)) != text for text in texts):
            raise ValueError("its target or a setting holds a control character")
        return spec


class Demand(msgspec.Struct, frozen=True):
    """The cost of one operation; None where the target's process cannot be monitored."""

    cpu_us: float | None
    read_bytes: float | None
    written_bytes: float | None
    received_bytes: float
    sent_bytes: float


class StepResult(msgspec.Struct, frozen=True):
    program: str
    step: str
    count: int
    failures: int
    per_s: float
    counted: bool
    clocks: Mapping[str, Durations] = msgspec.field(default_factory=clocks)
    counters: Mapping[str, int | float | None] = {}
    overlaps: bool = False
    """Whether other rows count the same work: true of whole sequences and of phases of requests."""

    def to_json(self) -> dict[str, Any]:
        return {
            "program": self.program,
            "step": self.step,
            "count": self.count,
            "failures": self.failures,
            "per_s": self.per_s,
            **{
                str(clock): self.clocks[clock].to_json()
                for clock in metrics.CLOCKS
                if self.clocks[clock].n or metrics.STEP in clock.always
            },
            **{counter.key: self.counters.get(counter) for counter in metrics.COUNTERS},
            "counted": self.counted,
            **({"overlaps": True} if self.overlaps else {}),
        }

    @staticmethod
    def fields(document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a document that `to_json` wrote, unchecked."""
        return {
            **document,
            "clocks": {str(clock): document.get(clock, {}) for clock in metrics.CLOCKS},
            "counters": {str(counter): document.get(counter.key) for counter in metrics.COUNTERS},
        }


def counted_steps(steps: Iterable[StepResult]) -> Set[tuple[str, str]]:
    """Return (program, step) of the counted steps."""
    return {(step.program, step.step) for step in steps if step.counted}


_R = TypeVar("_R", StepResult, StepTotals)


def failing(spec: PointSpec, rows: Iterable[_R], counts: Container[tuple[str, str]]) -> list[_R]:
    """Return the rows whose failures add up to the failures of a point, each counted once.

    A failed step fails its sequence too, and a phase fails with its request: rows of sequences and
    phases are left out. An operation of a scenario fails once, even if several steps fail: its own
    row replaces the rows of its steps, if it is counted as a whole or arrives at a rate. `counts`
    are the counted steps.
    """
    rows = list(rows)
    if not spec.of_a_file:
        return [row for row in rows if not row.overlaps]

    def whole(row: _R) -> bool:
        # The counted step's row also has arrivals that ended because an earlier step failed.
        arrives = spec.rate is not None and row.step == SEQUENCE
        return arrives or (row.program, row.step) in counts

    wholes = [row for row in rows if row.overlaps and whole(row)]
    names = {row.program for row in wholes}
    return wholes + [row for row in rows if row.program not in names and not row.overlaps]


class PointResult(Window, frozen=True, kw_only=True):
    """The result of one point: every figure of its tables and reports.

    `measure.summarise` makes it from a measured window.
    """

    spec: PointSpec
    verdict: Verdict
    settled: Settled
    steps: tuple[StepResult, ...] = ()
    figures: Mapping[str, Any] = {}
    """Figures that only points of the suite have, such as pages per second."""
    workers: tuple[WorkerSeen, ...] = ()
    """The processes that made the load; empty if this process made it."""
    sent: int = 0
    """Requests of the whole test, with warm-up and end: the number that a server counts."""

    @property
    def counts(self) -> tuple[str, ...]:
        """The names of the steps that counted as operations, such as `lookup` or `sequence`."""
        counted = [step for step in self.steps if step.counted]
        # With a scenario file, arrivals without a free user have a row of their own, mostly empty.
        nonzero = [step for step in counted if step.count] or counted
        return tuple(dict.fromkeys(sorted(step.step for step in nonzero)))

    @property
    def attempts(self) -> int:
        """The number of steps, or of operations of a scenario, whether or not they succeeded."""
        if self.spec.of_a_file:
            return self.operations + self.failures
        return sum(step.count for step in failing(self.spec, self.steps, counted_steps(self.steps)))

    def latency_sign(self, name: str) -> str:
        """Return `>= ` or `<= ` for a figure of the latency that is a lower or an upper bound."""
        if name in self.clocks[metrics.LATENCY].at_least:
            return ">= "
        return "<= " if self.verdict.latency_at_most else ""

    @property
    def fails_too_often(self) -> bool:
        return self.failures > MOST_FAILURES * self.attempts

    @property
    def ops_per_s(self) -> float:
        return self.operations / self.seconds if self.seconds else 0.0

    @property
    def demand(self) -> Demand | None:
        """The cost of a successful operation to the target."""
        if not (n := self.operations):
            return None
        target = self.use.target
        return Demand(
            None if target is None else target.cpu_s / n * 1e6,
            None if target is None or target.read_bytes is None else target.read_bytes / n,
            None if target is None or target.written_bytes is None else target.written_bytes / n,
            (self.counters[metrics.BYTES_OUT] or 0) / n,
            (self.counters[metrics.BYTES_IN] or 0) / n,
        )

    @property
    def cpu_us_per_op(self) -> float | None:
        """CPU of the load generator's threads, per operation."""
        if not self.operations:
            return None
        return sum(self.generator_cpu_s) / self.operations * 1e6

    @property
    def headroom(self) -> float | None:
        """Share of time that the busiest thread of the load generator had left."""
        if not self.generator_cpu_s or not self.seconds:
            return None
        return max(0.0, 1.0 - max(self.generator_cpu_s) / self.seconds)

    def to_json(self) -> dict[str, Any]:
        spec, use = self.spec, self.use
        lanes = {"preparing_us": self.preparing_us, "busy_lanes": self.busy_lanes}
        queues = {"queue_start": self.queue_start, "queue_end": self.queue_end}
        return {
            "operation": spec.operation,
            "entries": spec.entries,
            "counts": list(self.counts),
            "ops_per_s": self.ops_per_s,
            "operations": self.operations,
            "sent": self.sent,
            "failures": self.failures,
            "failures_by_kind": dict(self.failures_by_kind),
            **({"examples": dict(self.examples)} if self.examples else {}),
            **{
                clock.key: self.clocks[clock].to_json()
                for clock in metrics.CLOCKS
                if self.clocks[clock].n or metrics.RESULT in clock.always
            },
            **{name: asdict(queue) for name, queue in queues.items() if queue is not None},
            **{counter.key: self.counters.get(counter) for counter in metrics.COUNTERS},
            **{
                f"{counter}_per_s": self.per_second(self.counters.get(counter)) or 0.0
                for counter in metrics.COUNTERS
                if counter.unit == "bytes"
            },
            **{name: value for name, value in lanes.items() if value is not None},
            "settled": asdict(self.settled),
            "little": None if self.little is None else asdict(self.little),
            "generator": {
                "client": spec.client,
                "cpu_us_per_op": self.cpu_us_per_op,
                "headroom": self.headroom,
                "cpu_s_per_thread": list(self.generator_cpu_s),
                "process_cpu_s": use.generator.cpu_s,
            },
            "target": {
                "name": spec.target,
                "cores": self.target_cores,
                "cpu_percent": use.target_cpu_percent,
                "cpu_s": use.target_cpu_s,
                "resident_bytes": use.target_rss,
                "per_operation": None if self.demand is None else asdict(self.demand),
            },
            "machine": {"available_bytes": use.available, "busy_cores": use.machine.busy_cores},
            "resources": use.to_json(),
            **self.verdict.to_json(),
            **({"workers": [worker.to_json() for worker in self.workers]} if self.workers else {}),
            **({"spans": [span.to_json() for span in self.spans]} if self.spans else {}),
            "users": spec.users,
            "rate": spec.rate,
            "schedule": "closed" if spec.rate is None else "open",
            **({"arrivals": spec.arrivals} if spec.arrivals else {}),
            "warmup_s": spec.warmup_s,
            "measure_s": self.seconds,
            "steps": [step.to_json() for step in self.steps],
            "figures": dict(self.figures),
            "spec": spec.to_json(),
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> PointResult:
        """Read the document of `to_json`; keys of a newer version are ignored."""
        converted = {
            "seconds": document["measure_s"],
            "use": document["resources"],
            "target_cores": document["target"].get("cores"),
            "generator_cpu_s": document["generator"]["cpu_s_per_thread"],
            "verdict": msgspec.convert(document, Verdict),
            "clocks": {str(clock): document.get(clock.key, {}) for clock in metrics.CLOCKS},
            "counters": {str(counter): document.get(counter.key) for counter in metrics.COUNTERS},
            "steps": [StepResult.fields(step) for step in document.get("steps", ())],
        }
        return msgspec.convert({**document, **converted}, cls)
