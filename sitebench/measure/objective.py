"""Objectives: conditions that a measurement must meet, parsed from one line.

    objective  = condition *("," condition)         every one of them must hold
    condition  = metric operator value
    metric     = one of `durations.PERCENTILES` | "max" | "mean"  latency: a time with its unit
               | "failures" | "cpu"                                  a share, with "%"
               | "rate" | "ops_per_s" | one of a suite's metrics     a number per second
    operator   = "<" | "<=" | ">" | ">="

Latencies count from the intended start. `failures` is the share of failed steps among all ended
steps, or of failed operations of a scenario; `cpu` is the target's CPU, where 100% is one core. A
value that is not known (a percentile with too few samples beyond it; a bound such as `>= 3 s` for a
condition of 5 s; the CPU of a remote target) neither meets its condition nor misses it.

A condition can apply to one operation of a point with several operations.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from sitebench import units
from sitebench.counts.durations import LEAST_BEYOND, PERCENTILES, heading
from sitebench.counts.metrics import LATENCY
from sitebench.errors import UnknownValue
from sitebench.suite import suites

if TYPE_CHECKING:
    from sitebench.runs.point import PointResult

Number = float | None


class _Metric(msgspec.Struct, frozen=True):
    """A metric of a condition, with functions to read its value, and to parse and show a bound."""

    read: Callable[[PointResult], Number]
    parse: Callable[[str], float]
    show: Callable[[float], str]
    missing: str
    """The reason to print if a point has no value of this metric."""
    quantile: float = 0.0
    """The rank of a percentile; 0 for other metrics."""
    sign: Callable[[PointResult], str] = lambda result: ""
    """Returns the sign before a value that is a lower or an upper bound."""


def _time(text: str) -> float:
    if text[-1:].isdigit():
        raise UnknownValue(f"{text!r} has no unit", "write a time such as 500us, 5ms or 1s")
    return units.parse_duration(text)


def _share(text: str) -> float:
    bare = text.removesuffix("%").strip()
    if text.endswith("%") and re.fullmatch(r"\d+(\.\d+)?", bare):
        return float(bare)
    raise UnknownValue(f"{text!r} is not a percentage", "write a share such as 0.1%")


def _latency(name: str, missing: str = "nothing was measured", rank: float = 0.0) -> _Metric:
    def seconds(result: PointResult) -> Number:
        micros: Number = getattr(result.clocks[LATENCY], name)
        return None if micros is None else micros / 1e6

    def sign(result: PointResult) -> str:
        return result.latency_sign(name)

    def show(value: float) -> str:
        return units.format_ns(value * 1e9)

    return _Metric(seconds, _time, show, missing, rank, sign)


def _per_second(read: Callable[[PointResult], Number], missing: str = "nothing ended") -> _Metric:
    return _Metric(read, units.parse_rate, lambda rate: f"{units.format_rate(rate)}/s", missing)


def _figure(name: str, figure: str) -> _Metric:
    return _per_second(
        lambda result: result.figures.get(figure), f"{name} is not measured for this operation"
    )


def _percent(read: Callable[[PointResult], Number], missing: str) -> _Metric:
    return _Metric(read, _share, lambda share: f"{share:.3g}%", missing)


_RATE = _per_second(lambda result: result.ops_per_s)

_OF_SUITES = {
    name: _figure(name, figure) for suite in suites() for name, figure in suite.metrics.items()
}
"""Metrics of the operations of a single suite."""

RATES = ("rate", "ops_per_s", *_OF_SUITES)

METRICS: Mapping[str, _Metric] = {
    **{
        heading(name): _latency(
            name, "too few samples lie beyond it: use a lower percentile", percent
        )
        for name, percent in PERCENTILES.items()
    },
    "max": _latency("max"),
    "mean": _latency("mean"),
    "failures": _percent(
        lambda result: 100.0 * result.failures / result.attempts if result.attempts else None,
        "nothing ended",
    ),
    "cpu": _percent(
        lambda result: result.use.target_cpu_percent,
        "the target's process cannot be monitored from here",
    ),
    "rate": _RATE,
    "ops_per_s": _RATE,
    **_OF_SUITES,
}

_OF_ALL = frozenset(("cpu", *_OF_SUITES))
"""Metrics of a whole point, which single operations of the point do not have."""

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}

_CONDITION = re.compile(r"\s*([a-z_0-9.]*)\s*(<=|>=|<|>|)\s*(.*?)\s*", re.IGNORECASE | re.DOTALL)
ROOM = 1.1
"""Factor on the samples that a percentile needs, because the number in a window is random."""
_EXAMPLE = "write conditions such as p99<5ms,failures<0.1%"


class ObjectiveState(StrEnum):
    MET = "met"
    BROKEN = "broken"
    UNKNOWN = "unknown"


def worst(states: Iterable[ObjectiveState]) -> ObjectiveState:
    severity = [ObjectiveState.MET, ObjectiveState.UNKNOWN, ObjectiveState.BROKEN]
    return max(states, key=severity.index, default=ObjectiveState.MET)


class _ConditionResult(msgspec.Struct, frozen=True):
    condition: _Condition
    state: ObjectiveState
    value: Number
    words: str
    """The value in words, or the reason why the value is unknown."""
    longer_s: float = 0.0
    """The length of a window with enough samples, if this window has too few."""

    @property
    def message(self) -> str:
        condition = self.condition
        if self.value is None:
            return f"{condition.name} is not known (asked: {condition.text}): {self.words}"
        return f"{condition.name} is {self.words} (asked: {condition.text})"


class _Condition(msgspec.Struct, frozen=True):
    metric: str
    operator: str
    bound: float
    text: str
    operation: str | None = None
    """The operation to which the condition applies; None for all operations together."""
    share: float = 1.0
    """The share of `operation` among all operations."""

    @property
    def name(self) -> str:
        return self.metric if self.operation is None else f"{self.operation}: {self.metric}"

    def __str__(self) -> str:
        return self.text if self.operation is None else f"{self.operation}: {self.text}"

    @property
    def samples(self) -> int:
        """The number of operations after which the percentile is known."""
        rank = METRICS[self.metric].quantile
        least = LEAST_BEYOND * 100.0 / (100.0 - rank) if rank else 1.0
        return math.ceil(least / self.share - 1e-6)

    def _missing(self, result: PointResult) -> tuple[str, float]:
        """Return why a value is unknown, and the length of a window in which it is known, or 0."""
        needed, measured = replace(self, share=1.0).samples, result.clocks[LATENCY].n
        if measured >= needed:
            return METRICS[self.metric].missing, 0.0
        few = f"{units.plural(measured, 'sample is', 'samples are')} too few, it needs {needed:,}"
        if not measured or result.spec.stages is not None:
            return few, 0.0
        longer_s = float(math.ceil(ROOM * needed * result.seconds / measured))
        return f"{few}: measure for {units.format_duration(longer_s)}", longer_s

    def judge(self, result: PointResult) -> _ConditionResult:
        metric = METRICS[self.metric]
        if self.operation is not None:
            # This import is late, as help and completion parse objectives, but judge no result.
            from sitebench.runs.repeats import of_operation

            result = of_operation(result, self.operation)
        value = metric.read(result)
        if value is None:
            return _ConditionResult(self, ObjectiveState.UNKNOWN, None, *self._missing(result))
        met = OPERATORS[self.operator](value, self.bound)
        state = ObjectiveState.MET if met else ObjectiveState.BROKEN
        # The measured value is a bound, so the true value may lie on the other side of the
        # condition.
        sign = metric.sign(result)
        met_if_lower = self.operator.startswith("<")
        if (sign == ">= " and met == met_if_lower) or (sign == "<= " and met != met_if_lower):
            state = ObjectiveState.UNKNOWN
        return _ConditionResult(self, state, value, f"{sign}{metric.show(value)}")


class Objective(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...]

    @classmethod
    def parse(cls, text: str) -> Objective:
        conditions, place = [], 1
        for part in text.split(","):
            conditions.append(_read(part, place, text))
            place += len(part) + 1
        return cls(tuple(conditions))

    def __str__(self) -> str:
        return ",".join(map(str, self.conditions))

    def __add__(self, other: Objective) -> Objective:
        return Objective((*self.conditions, *other.conditions))

    def about_operation(self, operation: str, share: float) -> Objective:
        """Return the objective for an operation with this share of all operations."""
        for condition in self.conditions:
            if condition.metric in _OF_ALL:
                raise UnknownValue(
                    f"{condition.metric} is known for all operations together only",
                    "put it into --objective, or into the objective of [load]",
                )
        return Objective(
            tuple(replace(part, operation=operation, share=share) for part in self.conditions)
        )

    def to_manifest(self) -> dict[str, Any]:
        texts: dict[str | None, list[str]] = {}
        for condition in self.conditions:
            texts.setdefault(condition.operation, []).append(condition.text)
        joined = {operation: ",".join(members) for operation, members in texts.items()}
        whole = joined.pop(None, None)
        return {"objective": whole, **({"objectives": joined} if joined else {})}

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> Objective | None:
        """Return the objective of a manifest, if any; raises if a newer version wrote it."""
        parts = manifest.get("objectives")
        texts = {None: manifest.get("objective"), **(parts if isinstance(parts, dict) else {})}
        objective = cls(())
        for operation, text in texts.items():
            if isinstance(text, str):
                parsed = cls.parse(text)
                objective += parsed if operation is None else parsed.about_operation(operation, 1.0)
        return objective if objective.conditions else None

    def judge(self, result: PointResult) -> _Judgement:
        return _Judgement(tuple(condition.judge(result) for condition in self.conditions))

    def judge_failures(self, result: PointResult) -> _Judgement:
        conditions = (part for part in self.conditions if part.metric == "failures")
        return _Judgement(tuple(condition.judge(result) for condition in conditions))

    def samples(self) -> int:
        """Return the number of operations after which all percentiles are known."""
        return max(condition.samples for condition in self.conditions)

    def about(self, metric: str) -> bool:
        return any(condition.metric == metric for condition in self.conditions)


class _Judgement(msgspec.Struct, frozen=True):
    """The judgement of all conditions: broken if one condition is broken, met if all are met."""

    outcomes: tuple[_ConditionResult, ...]

    @property
    def state(self) -> ObjectiveState:
        return worst(outcome.state for outcome in self.outcomes)

    @property
    def message(self) -> str:
        """The conditions that were not met and why; all measured values if all were met."""
        missed = [outcome for outcome in self.outcomes if outcome.state is not ObjectiveState.MET]
        return "; ".join(outcome.message for outcome in missed or self.outcomes)

    def to_json(self) -> dict[str, Any]:
        outcomes = [
            {
                "condition": (condition := outcome.condition).text,
                **({"operation": condition.operation} if condition.operation else {}),
                "state": outcome.state.value,
                "value": outcome.value,
            }
            for outcome in self.outcomes
        ]
        return {"state": self.state.value, "conditions": outcomes}


def _read(part: str, place: int, whole: str) -> _Condition:
    """Read a condition, which begins at the `place`-th character of the `whole` text."""
    match = _CONDITION.fullmatch(part)
    assert match is not None  # Every group may be empty.
    name, sign, value = match[1].lower(), match[2], match[3]
    if name not in METRICS:
        written = match[1] or part.strip()
        problem = f"unknown metric {written!r}" if written else "a metric is missing"
        raise _wrong(whole, problem, place + match.start(1), f"use one of {', '.join(METRICS)}")
    if not sign:
        problem = f"no operator after {match[1]!r}"
        raise _wrong(whole, problem, place + match.end(1), f"use one of {', '.join(OPERATORS)}")
    if not value:
        problem = f"{match[1]!r} has no value to compare with"
        raise _wrong(whole, problem, place + match.end(2), _EXAMPLE)
    try:
        bound = METRICS[name].parse(value)
    except UnknownValue as error:
        raise _wrong(whole, error.message, place + match.start(3), error.remedy) from error
    return _Condition(name, sign, bound, f"{name}{sign}{value}")


def _wrong(whole: str, problem: str, place: int, remedy: str) -> UnknownValue:
    return UnknownValue(f"objective {whole!r}, character {place}: {problem}", remedy)
