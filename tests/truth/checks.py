"""Compares a test's report with the log; each check yields the differences.

Tests of the command line use the same checks: `window` and `times` need only
its JSON and the times of its window.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from tests.truth.figures import SEQUENCE, Key, Reported, Row, Times
from tests.truth.log import (
    READING_S,
    SLOW_S,
    Operation,
    Range,
    Truth,
    Window,
    certain,
    due_in,
    possible,
    within,
)

_THREE_DIGITS = 0.999
_ABOVE = 1.3
_NOT_LOGGED = ("bind", "unbind")
_CONNECTING = ("connect", "wait", *_NOT_LOGGED)
"""Steps of a connection: `main: connect`."""


def whole(reported: Reported, truth: Truth) -> Iterator[str]:
    """(a) Sent, answered, failed and unanswered requests equal those in the log."""
    rest = sum(
        row.count for key, row in (reported.whole or {}).items() if _step(key) in _NOT_LOGGED
    )
    requests = len(truth.requests)
    # The portable client does not count the bytes of an unbind.
    if reported.sent not in (None, requests, requests + rest):
        yield f"sent {reported.sent}, {rest} to bind and unbind, and the server had {requests}"
    if reported.whole is None:
        return
    rows = truth.whole()
    hurried = [each for each in truth.operations if each.hurried]
    binds = sum(row.count for key, row in reported.whole.items() if _step(key) == "bind")
    if truth.binds not in (None, binds):
        yield f"{binds} binds for connections, and the server had {truth.binds}"
    for key, expected in rows.items():
        row = reported.whole.get(key, Row())
        seen = row.count + row.thinking, row.failures, row.unanswered
        wanted = expected.count + expected.thinking, expected.failures, expected.unanswered
        # For an operation that is left out, its failure is unknown.
        lost = sum(each.failed for each in hurried) if key[1] == SEQUENCE else 0
        if seen not in [(wanted[0], *(n - fewer for n in wanted[1:])) for fewer in range(lost + 1)]:
            yield f"whole test, {key}: (ended, failed, unanswered) {seen}, and the log has {wanted}"
        if not expected.thinking <= row.thinking <= expected.thinking + len(hurried):
            yield f"whole test, {key}: {row.thinking} left out, and the log has {expected.thinking}"
    for key, row in reported.whole.items():
        if key not in rows and _step(key) not in _CONNECTING and row.count:
            yield f"whole test, {key}: {row.count}, and the log has none"


def _step(key: Key) -> str:
    return key[1].rpartition(": ")[2]


def window(reported: Reported, truth: Truth, window_s: Window) -> Iterator[str]:
    """(b) Every operation is in the window and span of its due time, and fails at most once."""

    def differs(what: str, seen: int, expected: Range) -> Iterator[str]:
        if seen not in expected:
            yield f"{what}: {seen}, and the log has {expected}"

    ended, hurried = truth.ended_in(window_s), sum(each.hurried for each in truth.operations)
    unsure = Range(ended.least - hurried, ended.most)
    yield from differs("operations that ended", reported.operations, unsure)
    yield from differs("failed operations", reported.failures, truth.failed_in(window_s))
    rows = [reported.rows[key] for key in reported.counted]
    timed = truth.timed
    begun = [*timed, *(each for each in truth.operations if each.left_out)]
    for name in {each.name for each in begun}:
        own = [reported.rows[key] for key in reported.counted if key[0] == name]
        thinking = sum(row.thinking for row in own)
        count = sum(row.count for row in own) + thinking
        due = due_in((each for each in begun if each.name == name), window_s)
        yield from differs(f"operations {name!r} that were due", count, due)
        out = due_in((each for each in begun if each.name == name and each.left_out), window_s)
        unsure = Range(out.least, out.most + hurried)
        yield from differs(f"operations {name!r} left out", thinking, unsure)
    if all(row.slow is not None for row in rows):
        least = due_in((each for each in timed if _slow(each, 0)), window_s).least
        most = due_in((each for each in timed if _slow(each, 1)), window_s).most
        slow = sum(row.slow or 0 for row in rows)
        yield from differs("slow operations", slow, Range(least, most))
    for key in {(each.operation, each.step) for each in truth.requests}:
        spans = list(truth.steps(key))
        if key in reported.counted or not spans:
            continue
        row = reported.rows.get(key, Row())
        yield from differs(f"steps {key}", row.count, within((due for due, _ in spans), window_s))
        lost = (due for due, each in spans if each.answered_s is None)
        yield from differs(f"unanswered steps {key}", row.unanswered, within(lost, window_s))
    total = sum(row.count + row.thinking for row in rows)
    stages_s = truth.first_due_s if truth.arrives else window_s[0]
    for span in reported.spans:
        begin_s = stages_s + span.begin_s
        span_s = begin_s, begin_s + span.seconds
        named = f"span {span.begin_s:g} s"
        yield from differs(f"operations of {named}", span.operations, due_in(begun, span_s))
        failed = (each for each in timed if each.failed)
        yield from differs(f"failures of {named}", span.failures, due_in(failed, span_s))
        longest_s = max((each.latency_s[0] for each in certain(timed, span_s)), default=0.0)
        if span.longest_s < longest_s * _THREE_DIGITS:
            yield f"longest of {named}: {span.longest_s:.3f} s, and the log has {longest_s:.3f} s"
    if reported.spans:
        last = reported.spans[-1]
        behind_s = stages_s + last.begin_s + last.seconds, window_s[1]
        in_spans = sum(span.operations for span in reported.spans)
        yield from differs("operations behind all spans", total - in_spans, due_in(begun, behind_s))


def _slow(operation: Operation, end: int) -> bool:
    return operation.latency_s[end] * (1, _ABOVE)[end] > SLOW_S


def times(reported: Reported, truth: Truth, window_s: Window, null_s: float) -> Iterator[str]:
    """(d) Times are at least the log's, and slightly above; objectives are judged accordingly.

    `null_s` is the time that the load generator added to a constant time in a cell without a fault.
    """
    latencies = [each.latency_s for each in possible(truth.timed, window_s)]
    sure = [each.latency_s[0] for each in certain(truth.timed, window_s)]
    yield from _bounded("latency", reported.latency, sure, latencies, null_s)
    for key in {(each.operation, each.step) for each in truth.requests}:
        services = [
            (due, each.service_s) for due, each in truth.steps(key) if each.service_s is not None
        ]
        inside = [took for due, took in services if within([due], window_s).least]
        near = [(took, took) for due, took in services if within([due], window_s).most]
        row = reported.rows.get(key)
        if row is not None and not row.unanswered:
            yield from _bounded(f"service time of {key}", row.service, inside, near, null_s)
    longest_s = max(sure, default=0.0)
    failed = truth.failed_in(window_s)
    lost = due_in((each for each in truth.timed if each.failed), window_s)
    states = {
        # If an operation was not answered, the maximum is a lower bound.
        "max<900ms": (
            "broken" if longest_s > 0.9 else "unknown" if lost.least else "met",
            (longest_s < 0.9 and max((most for _, most in latencies), default=0.0) > 0.7)
            or lost.least != lost.most,
        ),
        "failures<0.1%": ("broken" if failed.least else "met", failed.least != failed.most),
    }
    for objective, state in reported.objectives.items():
        expected, either = states[objective]
        if state != expected and not either:
            yield f"the objective {objective} is {state}, and by the log it is {expected}"


def clocks(
    reported: Reported, truth: Truth, window_s: Window, null_s: float, *, waits: bool
) -> Iterator[str]:
    """(d) Each clock of operations has exactly their times, by its start and its end.

    `waits`: whether an operation may wait for a place on a shared connection, after its lag.
    """
    opened = {
        each.connection: each for each in sorted(truth.requests, key=lambda each: -each.arrived_s)
    }

    def lag_s(operation: Operation) -> Window:
        first, (earliest, latest) = operation.requests[0], operation.due_s
        # Opening a connection for an operation, which no log contains, ends the clock.
        at_once = waits or opened[first.connection] is first
        least = 0.0 if at_once else max(0.0, first.earliest_s - latest)
        return least, first.arrived_s - earliest

    def taken_s(operation: Operation) -> Window:
        # The time runs from its begin, without its pauses.
        least, most = replace(operation, due_s=operation.begins_s).latency_s
        return least, operation.latency_s[1] if waits else most

    for key in reported.counted:
        row = reported.rows[key]
        own = [each for each in truth.timed if each.name == key[0]]
        sure, maybe = certain(own, window_s), possible(own, window_s)

        def of(
            what: str,
            times: Times,
            span: Callable[[Operation], Window],
            *,
            failed: bool,
            sure: Sequence[Operation] = sure,
            maybe: Sequence[Operation] = maybe,
        ) -> Iterator[str]:
            least = [span(each)[0] for each in sure if each.failed is failed]
            most = [span(each) for each in maybe if each.failed is failed]
            if not len(least) <= times.n <= len(most):
                yield f"{what}: {times.n}, and the log has {len(least)} to {len(most)}"
            yield from _bounded(what, times, least, most, null_s)

        if truth.arrives:
            yield from of(f"lag of {key}", row.lag, lag_s, failed=False)
        elif row.lag.n:
            yield f"{key} has a lag, and nothing is due before it is sent"
        yield from of(f"time in vain of {key}", row.abandoned, taken_s, failed=True)
        if row.wrong.n:
            yield f"{key} has {row.wrong.n} wrong answers, and the server gives none"
        vain = [taken_s(each) if each.failed else (0.0, 0.0) for each in maybe]
        pauses = [(each.paused_s, each.paused_s) for each in maybe]
        yield from _summed(f"time in vain of {key}", row.failed_s, vain, len(sure), null_s)
        yield from _summed(f"pauses of {key}", row.paused_s, pauses, len(sure), null_s)


def _summed(
    what: str, seen: float, spans: Sequence[Window], sure: int, null_s: float
) -> Iterator[str]:
    """Compare a sum with durations, of which the first `sure` are certainly included."""
    least = _THREE_DIGITS * sum(sorted(each for each, _ in spans)[:sure])
    most = sum(_ABOVE * each + null_s for _, each in spans)
    if not least <= seen <= most:
        yield f"{what}: {seen:.3f} s in all, and the log has {least:.3f} to {most:.3f} s"


def _bounded(
    what: str,
    times: Times,
    sure: Sequence[float],
    possible: Sequence[tuple[float, float]],
    null_s: float,
) -> Iterator[str]:
    """Compare a summary with durations: the certainly and the possibly included ones."""
    least, most = sorted(sure), sorted(each for _, each in possible)
    if not most:
        return
    bounds = {
        "sum": (times.mean * times.n, sum(least), _ABOVE * sum(most) + times.n * null_s),
        "max": (times.max, max(least, default=0.0), _ABOVE * most[-1] + null_s + READING_S),
    }
    unsure = len(most) - len(least)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95)):
        if (value := getattr(times, name)) is not None and least:
            rank = round(share * len(most))
            low = least[max(0, rank - unsure - 2)]
            high = most[min(len(most) - 1, rank + unsure + 1)]
            bounds[name] = value, low, _ABOVE * high + null_s
    for name, (value, low, high) in bounds.items():
        if value < low * _THREE_DIGITS:
            yield f"{name} of the {what}: {value:.4f} s, below the log's {low:.4f} s"
        if value > high:
            yield f"{name} of the {what}: {value:.4f} s, and the log allows {high:.4f} s"


def wrong(reported: Reported, truth: Truth, window_s: Window, null_s: float) -> Iterator[str]:
    """With only wrong answers, an operation of one step fails exactly once, answered or not."""
    requests = len(truth.requests)
    for key, row in (reported.whole or {}).items():
        if _step(key) not in _CONNECTING and (row.count, row.failures) != (requests, requests):
            yield f"whole test, {key}: {row.count}, failed {row.failures}, of {requests} in the log"
    begun = truth.timed
    for key in reported.counted:
        row = reported.rows[key]
        due = due_in(begun, window_s)
        if row.count not in due or row.failures != row.count or reported.failures != row.count:
            yield f"{key}: {row.count}, failed {row.failures}, and the log has {due}"
        answered = [each for each in begun if not each.failed]
        if (
            row.wrong.n not in due_in(answered, window_s)
            or row.wrong.n + row.unanswered != row.count
        ):
            yield f"{key}: {row.wrong.n} wrong answers, and {row.unanswered} missing"
        least = [each.latency_s[0] for each in certain(answered, window_s)]
        most = [each.latency_s for each in possible(answered, window_s)]
        yield from _bounded(f"wrong answers of {key}", row.wrong, least, most, null_s)
        if row.service.n != row.unanswered:
            yield f"{key}: {row.service.n} times of right answers, which there are none of"


def apart(truth: Truth) -> Iterator[str]:
    """Two steps use two connections."""
    used = [
        {each.connection for each in truth.requests if each.step == step}
        for step in ("find", "ask")
    ]
    if used[0] & used[1] or not all(used):
        yield f"both steps came over {len(used[0] & used[1])} connections"


def kept(truth: Truth) -> Iterator[str]:
    """A user has one row, which no other user has."""
    rows = {(each.requests[0].user, each.requests[0].rest) for each in truth.operations}
    users, values = ({pair[n] for pair in rows} for n in (0, 1))
    if not len(rows) == len(users) == len(values):
        yield f"{len(users)} users had {len(values)} rows in {len(rows)} pairs"


def once(truth: Truth) -> Iterator[str]:
    """A row of `once` is dealt once, beginning with the first row."""
    rows = sorted(int(each.requests[0].rest) for each in truth.operations)
    if rows != list(range(1, len(rows) + 1)):
        yield f"{len(rows)} rows were dealt, and they are not the first ones, once each"


def exclusive(truth: Truth) -> Iterator[str]:
    """No two concurrent operations have one row; an unanswered change keeps its row."""
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in truth.operations:
        spans[each.requests[0].rest].append((each.began_s, each.ended_s))
    for row, held in spans.items():
        for (_, ended_s), (began_s, _) in pairwise(sorted(held)):
            if began_s < ended_s - READING_S:
                yield f"two operations had row {row} at a time"


def captured(truth: Truth) -> Iterator[str]:
    """The second step sends the value that the answer to the first step contained."""
    for operation in truth.operations:
        find, *more = operation.requests
        expected = f"{find.operation}.{find.step}.{find.user}.{find.iteration}.captured"
        if any(each.rest != expected for each in more):
            yield f"{more[0]} did not send {expected}"


def places(truth: Truth, at_a_time: int) -> Iterator[str]:
    """At most as many requests are in flight as connections have places."""
    changes = sorted(
        change
        for each in truth.requests
        if each.answered_s is not None
        for change in ((each.arrived_s, 1), (each.answered_s, -1))
    )
    in_flight = most = 0
    for _, change in changes:
        in_flight += change
        most = max(most, in_flight)
    if most > at_a_time:
        yield f"{most} requests were in flight, and there are {at_a_time} places"


def connections(truth: Truth) -> Iterator[str]:
    """Each request has its own connection."""
    used = [each.connection for each in truth.requests]
    if len(set(used)) != len(used):
        yield f"{len(used)} requests came over {len(set(used))} connections"
