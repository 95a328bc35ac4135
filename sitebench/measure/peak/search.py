"""The search for the highest rate that holds (meets an objective): raise, bisect, hold, confirm.

docs/load-search.md describes the steps, and the answer if the load generator, the lanes or other
programs were the limit.

The search is a generator that yields a trial and receives its reply. The same replies lead to the
same trials, which makes a search resumable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from enum import StrEnum
from math import floor, log10

import msgspec
from msgspec import structs
from msgspec.structs import replace

from sitebench.counts.durations import Durations
from sitebench.counts.metrics import LAG, LATENCY, SERVICE
from sitebench.measure.objective import Objective, ObjectiveState
from sitebench.runs.point import PointResult
from sitebench.verdict.rules.generator import rate_reached
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import WarningKind

_GAIN = 1.05
"""If twice the lanes raise the throughput by less than this factor, lanes were not the limit."""

_LATE = 0.5
"""An operation is late if its start is later than due by this share of its service time."""

_ALL_BUSY = 0.8
"""If lanes are busy for at least this share of the time, late operations waited for a lane."""

ROUNDS = 3
"""How often the search continues after a rate broke and then held."""

_HALVINGS = 4
"""Number of times that the first rate is halved: the search goes down to a sixteenth of it."""


class Answer(StrEnum):
    HELD = "held"
    BROKE = "broke"
    TESTER = "tester"
    BUSY = "busy"
    """The rate broke while other programs used most of the machine."""

    @property
    def of_target(self) -> bool:
        return self in (Answer.HELD, Answer.BROKE)


class Trial(msgspec.Struct, frozen=True):
    """A rate to measure with a number of lanes, for the short or the long window."""

    rate: float
    users: int
    long: bool
    repeat: int
    apart_s: float = 0.0


class Reply(msgspec.Struct, frozen=True):
    """The answer of a trial and its reason; `crowded` if operations waited for a free lane."""

    answer: Answer
    achieved: float
    message: str
    crowded: bool = False


class Ceiling(msgspec.Struct, frozen=True):
    """A rate that did not hold; `sure` if it broke in the long window."""

    rate: float
    reply: Reply
    sure: bool


class SearchPlan(msgspec.Struct, frozen=True):
    start: float
    users: int
    most_users: int
    precision: float = 0.05
    holds: int = 3
    apart_s: float = 0.0

    @property
    def lowest(self) -> float:
        return round_rate(self.start / 2**_HALVINGS)


class HighestRate(msgspec.Struct, frozen=True):
    """The highest rate that held every time, and the lowest rate above it that broke."""

    rate: float | None
    ceiling: Ceiling | None
    users: int

    @property
    def limit_known(self) -> bool:
        return self.ceiling is None or self.ceiling.reply.answer.of_target


Search = Generator[Trial, Reply, HighestRate]
_Attempt = Generator[Trial, Reply, Reply]
_Bracketing = Generator[Trial, Reply, tuple[float, Ceiling]]


def round_rate(rate: float) -> float:
    """Return a rate with three digits, which are easy to read."""
    return round(rate, 2 - floor(log10(rate)))


def search(plan: SearchPlan) -> Search:
    searching = _Searching(plan)
    low, high = yield from searching.bracket()
    for rounds_left in reversed(range(ROUNDS)):
        if low is None or high is None:
            break
        low, high = yield from searching.narrow(low, high)
        low, high = yield from searching.hold(low, high)
        if low is None or high.sure or not high.reply.answer.of_target:
            break
        again = yield from searching.attempt(high.rate, long=True)
        if again.answer is not Answer.HELD:
            high = Ceiling(high.rate, again, sure=True)
            break
        if rounds_left:
            low, high = yield from searching.raise_from(high.rate, 1 + 4 * plan.precision)
    return HighestRate(low, high, searching.users)


class _Searching:
    def __init__(self, plan: SearchPlan) -> None:
        self._plan = plan
        self.users = plan.users
        self._n_trials: Counter[tuple[float, int]] = Counter()

    def attempt(self, rate: float, *, long: bool = False, apart_s: float = 0.0) -> _Attempt:
        """Try a rate; if all lanes were busy, try it again with more lanes."""
        reply = yield replace(self._trial(rate, self.users, long=long), apart_s=apart_s)
        if reply.answer is Answer.BUSY:
            reply = yield self._trial(rate, self.users, long=long)
        while reply.answer is Answer.BROKE and reply.crowded:
            if self.users * 2 > self._plan.most_users:
                reason = f"all {self.users:,} lanes are busy, the most allowed: {reply.message}"
                return Reply(Answer.TESTER, reply.achieved, reason)
            wider = yield self._trial(rate, self.users * 2, long=long)
            if not wider.answer.of_target:
                # This try shows nothing about lanes, because the target was not the limit.
                return wider
            if wider.answer is Answer.BROKE and wider.achieved < _GAIN * reply.achieved:
                return reply
            self.users *= 2
            reply = wider
        return reply

    def _trial(self, rate: float, users: int, *, long: bool) -> Trial:
        repeat = self._n_trials[rate, users]
        self._n_trials[rate, users] += 1
        return Trial(rate, users, long, repeat)

    def bracket(self) -> Generator[Trial, Reply, tuple[float | None, Ceiling | None]]:
        """Return a rate that holds and a higher rate that breaks."""
        rate = round_rate(self._plan.start)
        reply = yield from self.attempt(rate)
        if reply.answer is Answer.HELD:
            return (yield from self.raise_from(rate, 2.0))
        high = Ceiling(rate, reply, sure=False)
        for _ in range(_HALVINGS):
            rate = round_rate(rate / 2)
            reply = yield from self.attempt(rate)
            if reply.answer is Answer.HELD:
                return rate, high
            high = Ceiling(rate, reply, sure=False)
        return None, high

    def raise_from(self, low: float, factor: float) -> _Bracketing:
        """Raise the rate until it breaks, or the load generator is saturated."""
        while True:
            rate = round_rate(low * factor)
            reply = yield from self.attempt(rate)
            if reply.answer is not Answer.HELD:
                return low, Ceiling(rate, reply, sure=False)
            low = rate

    def narrow(self, low: float, high: Ceiling, *, long: bool = False) -> _Bracketing:
        """Halve the bracket until it is as narrow as requested."""
        while high.rate > low * (1 + self._plan.precision):
            middle = round_rate((low + high.rate) / 2)
            if middle in (low, high.rate):
                break
            broke = yield from self._breaks(middle, long=long)
            if broke is None:
                low = middle
            else:
                high = Ceiling(middle, broke, sure=long)
        return low, high

    def hold(
        self, low: float, high: Ceiling
    ) -> Generator[Trial, Reply, tuple[float | None, Ceiling]]:
        """Try a rate `holds` times in the long window; while it breaks, step down farther."""
        step = self._plan.precision
        while (broke := (yield from self._breaks(low, long=True))) is not None:
            high = Ceiling(low, broke, sure=True)
            low, step = round_rate(low / (1 + step)), 2 * step
            if low < self._plan.lowest:
                return None, high
        if high.sure:
            low, high = yield from self.narrow(low, high, long=True)
        return low, high

    def _breaks(self, rate: float, *, long: bool) -> Generator[Trial, Reply, Reply | None]:
        """Return the reply in which a rate broke; the long window is repeated `holds` times."""
        for n in range(self._plan.holds if long else 1):
            apart_s = self._plan.apart_s if n else 0.0
            reply = yield from self.attempt(rate, long=long, apart_s=apart_s)
            if reply.answer is not Answer.HELD:
                return reply
        return None


def reply_of(result: PointResult, objective: Objective) -> Reply:
    """Return a point's reply; BUSY if the rate possibly broke because of other programs."""
    reply, verdict = _on_its_own(result, objective), result.verdict
    if reply.answer is Answer.HELD:
        return reply
    noisy = (w.message for w in verdict.warnings if w.kind == WarningKind.NOISY_MACHINE)
    if (noise := next(noisy, None)) is not None:
        return Reply(Answer.BUSY, reply.achieved, f"{noise}; {reply.message}")
    if verdict.bound == Bound.OTHERS or verdict.latency_at_most:
        return replace(reply, answer=Answer.BUSY, crowded=False)
    return reply


def _on_its_own(result: PointResult, objective: Objective) -> Reply:
    """Return the reply of a point, without regard to other programs."""
    achieved, rate, bound = result.ops_per_s, result.spec.rate or 0.0, result.verdict.bound
    judgement = objective.judge(result)
    if bound == Bound.GENERATOR:
        return Reply(
            Answer.TESTER, achieved, f"the load generator could not: {result.verdict.evidence}"
        )
    if not result.verdict.valid:
        return Reply(Answer.BROKE, achieved, result.verdict.evidence)
    message = judgement.message
    queues = (result.queue_start, result.queue_end)
    reached = rate_reached(result.operations, rate * result.seconds, result.spec.arrivals, queues)
    if not reached:
        message = f"{achieved:,.0f} of {rate:,.0f}/s were done; {message}"
    elif judgement.state is ObjectiveState.MET:
        return Reply(Answer.HELD, achieved, message)
    if bound == Bound.TARGET_CPU or _serves_too_slowly(result, objective):
        return Reply(Answer.BROKE, achieved, message)
    if _late(result) and (result.busy_lanes or 0.0) < _ALL_BUSY * result.spec.users:
        return Reply(
            Answer.TESTER, achieved, f"the load generator began late with lanes free; {message}"
        )
    return Reply(Answer.BROKE, achieved, message, crowded=_late(result))


def _serves_too_slowly(result: PointResult, objective: Objective) -> bool:
    """Return whether the service time, from sending to answer, misses the objective too."""

    def served_clocks(clocks: Mapping[str, Durations]) -> Mapping[str, Durations]:
        return {**clocks, LATENCY: clocks[SERVICE]}

    steps = tuple(structs.replace(step, clocks=served_clocks(step.clocks)) for step in result.steps)
    as_served = structs.replace(result, clocks=served_clocks(result.clocks), steps=steps)
    return objective.judge(as_served).state is ObjectiveState.BROKEN


def _late(result: PointResult) -> bool:
    """Return whether the median operation began late; a single stall delays only few operations."""
    late_us = _typical(result.clocks[LAG]) - (result.preparing_us or 0.0)
    return late_us > _LATE * _typical(result.clocks[SERVICE])


def _typical(clock: Durations) -> float:
    return clock.percentiles["p50"] or clock.mean or 0.0
