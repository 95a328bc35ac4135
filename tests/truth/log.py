"""Expected figures of a test, computed only from the server's log, without sitebench.

A scenario's text makes every request's key unique: `OPERATION.STEP.USER.ITERATION`, and
`OPERATION.STEP.USER.0` for a step done once per user, so the log shows to which operation a request
belongs. An operation belongs to the window in which it was due, or in which it began if there are
no arrivals. The log bounds the time at which a request arrived: an operation near the edge of a
window may be on either side of it. So counts are ranges.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Any

from tests.truth.figures import SEQUENCE, Key, Row

SECOND = 1e9
SENDING_S = 0.005
"""The maximum time of a load generator from the begin of a request to its sending."""
ROUNDING_S = 1e-6
TOGETHER_S = 0.002
"""Requests this near to each other may have been sent in another order than they began."""
READING_S = 0.02
"""The maximum time of a load generator to read an answer."""

Window = tuple[float, float]
"""Begin and end; also the bounds of an inexactly known time."""

SLOW_S = 0.5
"""An operation of 0.1 s that takes longer was delayed by a stall, or was never answered."""


@dataclass(frozen=True)
class Request:
    """A request in the log, in seconds."""

    operation: str
    step: str
    user: str
    iteration: int
    earliest_s: float
    """The request was sent after this time."""
    arrived_s: float
    answered_s: float | None
    """None if it was not answered."""
    reset_s: float | None
    """The time at which its connection was reset, if any."""
    connection: int
    rest: str
    """The part of its key behind the iteration."""

    @property
    def service_s(self) -> float | None:
        return None if self.answered_s is None else self.answered_s - self.arrived_s

    def given_up_s(self, timeout_s: float) -> float:
        """Return the time at which the load generator gives the request up."""
        return self.arrived_s + timeout_s if self.reset_s is None else self.reset_s


@dataclass(frozen=True)
class Operation:
    """An operation: its requests in order, and its due time."""

    name: str
    requests: tuple[Request, ...]
    timeout_s: float
    paused_s: float = 0.0
    """Think times within the operation, which no time of it includes."""
    left_out: bool = False
    """Whether its user ended within such a think time, which was cut short."""
    hurried: bool = False
    """Whether its user ended before or at the begin of such a think time, which was skipped."""
    due_s: tuple[float, float] = (0.0, 0.0)
    """The earliest and the latest due time."""

    @property
    def began_s(self) -> float:
        return self.requests[0].arrived_s

    @property
    def begins_s(self) -> Window:
        """The earliest and the latest begin."""
        return self.requests[0].earliest_s, self.requests[0].arrived_s

    @property
    def failed(self) -> bool:
        return self.requests[-1].answered_s is None

    @property
    def ended_s(self) -> float:
        last = self.requests[-1]
        return last.given_up_s(self.timeout_s) if last.answered_s is None else last.answered_s

    def never_came_to(self, step: str) -> bool:
        """Return whether the operation ended before a step."""
        return all(each.step != step for each in self.requests)

    @property
    def latency_s(self) -> tuple[float, float]:
        """The minimum and the maximum; for an unanswered operation, its waiting time."""
        earliest, latest = self.due_s
        most = self.ended_s - earliest - self.paused_s
        if not self.failed:
            return self.ended_s - latest - self.paused_s, most
        # The log is later than the load generator: an unanswered wait begins with the sending.
        *before, last = self.requests
        waited_s = 0.0 if last.reset_s is not None else self.timeout_s
        before_s = sum(each.service_s or 0.0 for each in before)
        return max(0.0, self.begins_s[0] - latest) + before_s + waited_s, most


@dataclass(frozen=True)
class Range:
    """A count whose members near an edge are uncertain."""

    least: int
    most: int

    def __contains__(self, number: int) -> bool:
        return self.least <= number <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


Due = Callable[[Sequence["Operation"]], Sequence["Operation"]]
"""Gives operations their due times, in the order in which they began."""


@dataclass(frozen=True)
class Truth:
    """The expected figures of a test, by the log."""

    operations: Sequence[Operation]
    """Operations in the order in which they began."""
    once: Sequence[Request]
    """Requests that each user sent once."""
    arrives: bool
    """Whether operations begin by arrivals, whose windows their requests then belong to."""
    counts: str | None = None
    """The step that is counted and timed instead of the whole operation."""
    edges_s: float = 0.0
    """The distance between the edges of several workers' windows."""
    binds: int | None = None
    """Binds for connections; None if commands bind before the load."""

    @property
    def first_due_s(self) -> float:
        """The due time of the first arrival of stages: a moment after the window's begin."""
        earliest, latest = self.operations[0].due_s
        return (earliest + latest + SENDING_S) / 2

    @property
    def timed(self) -> Sequence[Operation]:
        """Operations up to the counted step, or that step alone without arrivals.

        An arrival that did not reach the counted step failed there.
        """
        if self.counts is None:
            return [each for each in self.operations if not each.left_out]
        counted = []
        for each in self.operations:
            asked = [n for n, one in enumerate(each.requests) if one.step == self.counts]
            if self.arrives:
                counted.append(
                    replace(each, requests=each.requests[: asked[0] + 1 if asked else None])
                )
            elif asked:
                [ask] = each.requests[asked[0] : asked[0] + 1]
                own = ask.earliest_s, ask.arrived_s
                counted.append(replace(each, requests=(ask,), due_s=own, paused_s=0.0))
        return counted

    @property
    def requests(self) -> Sequence[Request]:
        return [*self.once, *(each for one in self.operations for each in one.requests)]

    def whole(self) -> Mapping[Key, Row]:
        """Return the counts of the whole test by operation and step."""
        ended: dict[Key, list[bool]] = defaultdict(list)
        for request in self.requests:
            ended[request.operation, request.step].append(request.answered_s is not None)
        left_out: Counter[Key] = Counter()
        for each in self.operations:
            if each.left_out:
                left_out[each.name, SEQUENCE] += 1
                continue
            ended[each.name, SEQUENCE].append(not each.failed)
            if self.counts and self.arrives and each.never_came_to(self.counts):
                ended[each.name, self.counts].append(False)
        failed = {key: row.count(False) for key, row in ended.items()}
        return {
            key: Row(len(row), failed[key], failed[key], left_out[key])
            for key, row in ended.items()
        }

    def failed_in(self, window_s: Window) -> Range:
        """Return the number of failed operations of a window; each fails once.

        Without arrivals, an operation with a counted step fails when that step was to be sent.
        """
        failed = [
            self._failed_s(each) for each in self.operations if each.failed and not each.left_out
        ]
        # A step of the start is no operation, but fails like one. It counts in the window from the
        # begin of the test on (decision 0216).
        unanswered = [step for step in self.once if step.answered_s is None]
        starts = within(
            ((step.earliest_s, step.arrived_s) for step in unanswered), (-math.inf, window_s[1])
        )
        own = within(failed, window_s)
        return Range(own.least + starts.least, own.most + starts.most)

    def _failed_s(self, operation: Operation) -> Window:
        last = operation.requests[-1]
        if self.counts is None or self.arrives:
            return operation.due_s
        return last.earliest_s, last.arrived_s

    def ended_in(self, window_s: Window) -> Range:
        """Return the number of operations answered in a window, whenever they were due."""
        ends = (each.ended_s for each in self.timed if not each.failed)
        spans = ((each - self.edges_s, each + READING_S + self.edges_s) for each in ends)
        return within(spans, window_s)

    def steps(self, key: Key) -> Iterator[tuple[Window, Request]]:
        """Yield the requests of a step with their earliest and latest due times."""
        for operation in self.operations:
            for each in operation.requests:
                if (each.operation, each.step) == key:
                    own = each.earliest_s - self.edges_s, each.arrived_s + self.edges_s
                    # Requests of an operation that was left out belong to no arrival.
                    of_arrival = self.arrives and not (
                        operation.left_out and each is not operation.requests[0]
                    )
                    yield (operation.due_s if of_arrival else own), each


def due_in(operations: Iterable[Operation], window_s: Window) -> Range:
    """Return the number of operations that belong to a window."""
    return within((each.due_s for each in operations), window_s)


def certain(operations: Iterable[Operation], window_s: Window) -> Sequence[Operation]:
    """Return the operations that certainly belong to a window, and were not left out."""
    return [each for each in operations if due_in([each], window_s).least and not each.hurried]


def possible(operations: Iterable[Operation], window_s: Window) -> Sequence[Operation]:
    """Return the operations that may belong to a window."""
    return [each for each in operations if due_in([each], window_s).most]


def within(spans: Iterable[Window], window_s: Window) -> Range:
    """Return the number of times in a window; each time is given by its bounds.

    A time at an edge may lie on either side because of rounding.
    """
    begin_s, end_s = window_s
    spans = [(earliest - ROUNDING_S, latest + ROUNDING_S) for earliest, latest in spans]
    sure = sum(begin_s <= earliest and latest < end_s for earliest, latest in spans)
    possible = sum(latest >= begin_s and earliest < end_s for earliest, latest in spans)
    return Range(sure, possible)


def truth(
    log: Iterable[Sequence[Any]],
    due: Due,
    *,
    timeout_s: float,
    pauses: Mapping[str, float],
    arrives: bool,
    counts: str | None = None,
) -> Truth:
    """Read a log; `pauses` are think times within operations, by the name of the next step.

    `arrives`: whether operations begin by arrivals. `counts` is the counted step.
    """
    requests = sorted(map(_request, log), key=lambda each: each.arrived_s)
    parts: dict[tuple[str, str, int], list[Request]] = defaultdict(list)
    once = []
    for request in requests:
        if request.iteration:
            parts[request.operation, request.user, request.iteration].append(request)
        else:
            once.append(request)
    operations = [_operation(name, each, timeout_s, pauses) for (name, _, _), each in parts.items()]
    operations.sort(key=lambda each: each.began_s)
    return Truth(due(operations), once, arrives, counts)


def _operation(
    name: str, requests: Sequence[Request], timeout_s: float, pauses: Mapping[str, float]
) -> Operation:
    paused_s, left_out, hurried = 0.0, False, False
    for before, after in pairwise(requests):
        pause_s = pauses.get(after.step, 0.0)
        gap_s = after.arrived_s - (before.answered_s or 0.0)
        is_cut, is_short = gap_s < pause_s, gap_s < READING_S
        left_out |= is_cut and not is_short
        hurried |= is_cut and is_short
        paused_s += 0.0 if is_cut and is_short else pause_s
    return Operation(name, tuple(requests), timeout_s, paused_s, left_out, hurried)


def _request(logged: Sequence[Any]) -> Request:
    earliest_ns, arrived_ns, answered_ns, connection, _, key = logged
    operation, step, user, iteration, *rest = key.split(".", 4)
    return Request(
        operation,
        step,
        user,
        int(iteration),
        earliest_ns / SECOND - SENDING_S,
        arrived_ns / SECOND,
        answered_ns / SECOND if answered_ns > 0 else None,
        -answered_ns / SECOND if answered_ns < 0 else None,
        connection,
        "".join(rest),
    )


def at_once(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Due times if no operation waits: operations are due when they begin."""
    return [replace(each, due_s=each.begins_s) for each in operations]


def behind_each_other(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Due times of consecutive operations, which may wait before they send.

    They wait for a place on a shared connection. After a failure a user pauses for an unlogged
    time.
    """
    ended: dict[str, float] = {}
    due = []
    for each in operations:
        user = each.requests[0].user
        begin_s = ended.get(user, -math.inf)
        due.append(replace(each, due_s=(min(begin_s, each.begins_s[0]), each.began_s)))
        ended[user] = each.ended_s
    return due


def saturated(places: int) -> Due:
    """Due times with limited places: at the begin, or while all places were taken."""

    def due(operations: Sequence[Operation]) -> Sequence[Operation]:
        changes = sorted(
            change
            for each in operations
            for change in ((each.began_s, 1), (each.ended_s + READING_S, -1))
        )
        since_s, taken, full_since = math.inf, 0, []
        for at_s, change in changes:
            taken += change
            since_s = min(since_s, at_s) if taken >= places else math.inf
            full_since.append((at_s, since_s))
        starts = [at_s for at_s, _ in full_since]
        result = []
        for each in operations:
            # The last change before its begin.
            n = bisect.bisect_left(starts, each.begins_s[0]) - 1
            full_s = full_since[n][1] if n >= 0 else math.inf
            earliest, latest = each.begins_s
            result.append(replace(each, due_s=(min(full_s, earliest), latest)))
        return result

    return due


def apart(due: Due, seconds: float) -> Due:
    """Widen due times if the edges of a window differ between users.

    Each thread of a load generator has its own edge, shortly after the command.
    """

    def wider(operations: Sequence[Operation]) -> Sequence[Operation]:
        return [
            replace(each, due_s=(each.due_s[0] - seconds, each.due_s[1] + seconds))
            for each in due(operations)
        ]

    return wider


def evenly(per_second: float) -> Due:
    """Arrival n is due n / rate after the first, and begins with the first free user."""
    return lambda operations: _arriving(operations, lambda n: n / per_second)


def staged(stages: Sequence[tuple[float, float]]) -> Due:
    """Arrival n is due where the integral of the stages' rate reaches n."""
    return lambda operations: _arriving(operations, lambda n: _reached_s(stages, n))


def _arriving(
    operations: Sequence[Operation], after_s: Callable[[int], float]
) -> Sequence[Operation]:
    # No operation began before it was due, and one of them began almost on time.
    origin_s = min(each.began_s - after_s(n) for n, each in enumerate(operations))
    due: list[Operation] = []
    first = 0
    for n, each in enumerate(operations):
        # Users that continue at the same time send in any order.
        if n and not _together(operations[n - 1], each):
            first = n
        together = sum(
            1 for _ in takewhile(lambda pair: _together(*pair), pairwise(operations[n:]))
        )
        earliest_s = origin_s + after_s(first) - SENDING_S
        due.append(replace(each, due_s=(earliest_s, origin_s + after_s(n + together))))
    return due


def _together(one: Operation, other: Operation) -> bool:
    return other.began_s - one.began_s <= TOGETHER_S


def _reached_s(stages: Sequence[tuple[float, float]], count: float) -> float:
    """Return the time at which the integral of a piecewise linear rate from 0 reaches a count."""
    begin_s = before = rate = 0.0
    for lasts_s, end_rate in stages:
        slope = (end_rate - rate) / lasts_s
        more = lasts_s * (rate + end_rate) / 2
        if before + more >= count and more > 0:
            missing = count - before
            root = math.sqrt(max(0.0, rate * rate + 2 * slope * missing))
            return begin_s + (2 * missing / (rate + root) if missing else 0.0)
        begin_s, before, rate = begin_s + lasts_s, before + more, end_rate
    return begin_s
