"""Expected figures of a test, computed from the server's log alone (nothing of sitebench).

A scenario's text makes every request's key unique: `OPERATION.STEP.USER.ITERATION`, and
`OPERATION.STEP.USER.0` for what a user does once, so the log says which operation a request is a
part of. An operation belongs to the window in which it was due, or in which it began where nothing
arrives. The log knows between which instants a request arrived: an operation near the edge of a
window may be on either side of it. So counts are ranges.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from tests.truth.figures import SEQUENCE, Key, Row

SECOND = 1e9
SENDING_S = 0.005
"""How long a tester may take from beginning a request to sending it."""
ROUNDING_S = 1e-6
TOGETHER_S = 0.002
"""Requests this near to each other may have been sent in another order than they were begun in."""
READING_S = 0.02
"""How long a tester may take to read an answer."""

Window = tuple[float, float]
"""Begin and end; an instant that is not known better, too."""

SLOW_S = 0.5
"""An operation of 0.1 s that takes longer has met a stall, or its step was never answered."""


@dataclass(frozen=True)
class Request:
    """A request in the log, in seconds."""

    operation: str
    step: str
    user: str
    iteration: int
    earliest_s: float
    """It was sent after that."""
    arrived_s: float
    answered_s: float | None
    """None where it was not answered."""
    reset_s: float | None
    """When its connection was reset, if it was."""
    connection: int
    rest: str
    """What its key has behind the iteration."""

    @property
    def service_s(self) -> float | None:
        return None if self.answered_s is None else self.answered_s - self.arrived_s

    def given_up_s(self, timeout_s: float) -> float:
        """Return when the tester gives it up."""
        return self.arrived_s + timeout_s if self.reset_s is None else self.reset_s


@dataclass(frozen=True)
class Operation:
    """An operation: its requests in their order, and when it was due."""

    name: str
    requests: tuple[Request, ...]
    timeout_s: float
    paused_s: float = 0.0
    """Think times within it, which are in none of its times."""
    left_out: bool = False
    """Whether it was in such a think time when its user ended: that was cut short."""
    hurried: bool = False
    """Whether its user ended before such a think time, or as it began: there was none."""
    due_s: tuple[float, float] = (0.0, 0.0)
    """At the earliest and at the latest."""

    @property
    def began_s(self) -> float:
        return self.requests[0].arrived_s

    @property
    def begins_s(self) -> Window:
        """When it was begun, at the earliest and at the latest."""
        return self.requests[0].earliest_s, self.requests[0].arrived_s

    @property
    def failed(self) -> bool:
        return self.requests[-1].answered_s is None

    @property
    def ended_s(self) -> float:
        last = self.requests[-1]
        return last.given_up_s(self.timeout_s) if last.answered_s is None else last.answered_s

    def never_came_to(self, step: str) -> bool:
        """Return whether it ended before a step of it."""
        return all(each.step != step for each in self.requests)

    @property
    def latency_s(self) -> tuple[float, float]:
        """At least and at most; how long it was waited for where it was never answered."""
        earliest, latest = self.due_s
        most = self.ended_s - earliest - self.paused_s
        if not self.failed:
            return self.ended_s - latest - self.paused_s, most
        # A log is later than the tester: in vain it waits from when it has sent.
        *before, last = self.requests
        waited_s = 0.0 if last.reset_s is not None else self.timeout_s
        before_s = sum(each.service_s or 0.0 for each in before)
        return max(0.0, self.begins_s[0] - latest) + before_s + waited_s, most


@dataclass(frozen=True)
class Range:
    """A number that the log knows but for what is near an edge."""

    least: int
    most: int

    def __contains__(self, number: int) -> bool:
        return self.least <= number <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


Due = Callable[[Sequence["Operation"]], Sequence["Operation"]]
"""Gives operations, in the order in which they began, their due times."""


@dataclass(frozen=True)
class Truth:
    """What the log says of a test."""

    operations: Sequence[Operation]
    """In the order in which they began."""
    once: Sequence[Request]
    """What users did once."""
    arrives: bool
    """Whether operations begin by arrivals: their requests belong to the windows of these."""
    counts: str | None = None
    """The step that is counted and timed instead of the whole."""
    edges_s: float = 0.0
    """How far apart the windows of several workers begin, and end."""
    binds: int | None = None
    """Binds for connections; None where commands bind before the load."""

    @property
    def first_due_s(self) -> float:
        """When the first arrival was due, as stages began: a moment after the window did."""
        earliest, latest = self.operations[0].due_s
        return (earliest + latest + SENDING_S) / 2

    @property
    def timed(self) -> Sequence[Operation]:
        """Operations as they are counted: up to the step that counts; without arrivals it alone.

        Where an arrival never came to that step, it failed there.
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
        """Return the counts of the whole test, by operation and step."""
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
        """Return how many operations failed of those that belong to a window; each fails once.

        Without arrivals, one of which a step is counted fails where that step was to be asked for.
        """
        failed = [
            self._failed_s(each) for each in self.operations if each.failed and not each.left_out
        ]
        # A step of the start is no operation, but fails as one.
        # It counts in the window from the beginning of the test on (decision 0216).
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
        """Return how many operations were answered in a window, whenever they were due."""
        ends = (each.ended_s for each in self.timed if not each.failed)
        spans = ((each - self.edges_s, each + READING_S + self.edges_s) for each in ends)
        return within(spans, window_s)

    def steps(self, key: Key) -> Iterator[tuple[Window, Request]]:
        """Yield the requests of a step, and when they were due, at the earliest and the latest."""
        for operation in self.operations:
            for each in operation.requests:
                if (each.operation, each.step) == key:
                    own = each.earliest_s - self.edges_s, each.arrived_s + self.edges_s
                    # What is sent for an operation that was left out is for no arrival.
                    of_arrival = self.arrives and not (
                        operation.left_out and each is not operation.requests[0]
                    )
                    yield (operation.due_s if of_arrival else own), each


def due_in(operations: Iterable[Operation], window_s: Window) -> Range:
    """Return how many operations belong to a window."""
    return within((each.due_s for each in operations), window_s)


def certain(operations: Iterable[Operation], window_s: Window) -> Sequence[Operation]:
    """Return the operations that certainly belong to a window, and were not left out."""
    return [each for each in operations if due_in([each], window_s).least and not each.hurried]


def possible(operations: Iterable[Operation], window_s: Window) -> Sequence[Operation]:
    """Return the operations that may belong to a window."""
    return [each for each in operations if due_in([each], window_s).most]


def within(spans: Iterable[Window], window_s: Window) -> Range:
    """Return how many instants lie in a window; each is known as the earliest and the latest.

    One that is due at an edge, but for rounding, may lie on either side of it.
    """
    begin_s, end_s = window_s
    spans = [(earliest - ROUNDING_S, latest + ROUNDING_S) for earliest, latest in spans]
    sure = sum(begin_s <= earliest and latest < end_s for earliest, latest in spans)
    possible = sum(latest >= begin_s and earliest < end_s for earliest, latest in spans)
    return Range(sure, possible)


def truth(
    log: Iterable[Sequence[object]],
    due: Due,
    *,
    timeout_s: float,
    pauses: Mapping[str, float],
    arrives: bool,
    counts: str | None = None,
) -> Truth:
    """Read a log; `pauses` are the think times within operations, each before a step of that name.

    `arrives`: whether operations begin by arrivals. `counts` is the step that is counted.
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


def _request(logged: Sequence[object]) -> Request:
    earliest_ns, arrived_ns, answered_ns, connection, _, key = logged
    assert isinstance(earliest_ns, int)
    assert isinstance(arrived_ns, int)
    assert isinstance(answered_ns, int)
    assert isinstance(connection, int)
    operation, step, user, iteration, *rest = str(key).split(".", 4)
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
    """Operations are due when they begin: nothing waits, and every arrival finds a user."""
    return [replace(each, due_s=each.begins_s) for each in operations]


def behind_each_other(operations: Sequence[Operation]) -> Sequence[Operation]:
    """A user's next operation begins when the one before has ended, and may wait before it sends.

    For a place on a shared connection. After a failure a user pauses for a time that no log knows.
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
    """Operations are due when they begin, or while all places were taken."""

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
            # The change before it began.
            n = bisect.bisect_left(starts, each.begins_s[0]) - 1
            full_s = full_since[n][1] if n >= 0 else math.inf
            earliest, latest = each.begins_s
            result.append(replace(each, due_s=(min(full_s, earliest), latest)))
        return result

    return due


def apart(due: Due, seconds: float) -> Due:
    """The same where the edges of a window are not the same instant for all users.

    Each thread of a tester has its own, a moment after it is told.
    """

    def wider(operations: Sequence[Operation]) -> Sequence[Operation]:
        return [
            replace(each, due_s=(each.due_s[0] - seconds, each.due_s[1] + seconds))
            for each in due(operations)
        ]

    return wider


def evenly(per_second: float) -> Due:
    """Arrival n is due n / rate after the first, and begun by the first user that is free."""
    return lambda operations: _arriving(operations, lambda n: n / per_second)


def staged(stages: Sequence[tuple[float, float]]) -> Due:
    """Arrival n is due where the integral of the stages' rate reaches n."""
    return lambda operations: _arriving(operations, lambda n: _reached_s(stages, n))


def _arriving(
    operations: Sequence[Operation], after_s: Callable[[int], float]
) -> Sequence[Operation]:
    # None began before it was due, and one of them hardly later.
    origin_s = min(each.began_s - after_s(n) for n, each in enumerate(operations))
    due: list[Operation] = []
    first = 0
    for n, each in enumerate(operations):
        # Users that go on together send in any order.
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
    """Return when the integral of a rate in straight lines, from 0 on, reaches a count."""
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
