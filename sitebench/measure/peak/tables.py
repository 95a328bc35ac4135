"""The tables of `peak`, and its answer in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from sitebench.measure.objective import Objective
from sitebench.measure.outcomes import Judged, Outcome
from sitebench.measure.peak.curve import MOST_FAILED, Spot, failed_share
from sitebench.measure.peak.search import Answer, HighestRate, Reply, SearchPlan, Trial
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Series
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.tables.tables import (
    around,
    latency_mark,
    limit,
    medians,
    ops_per_s,
    rate_mark,
)
from sitebench.units import format_duration, format_ns, format_rate, plural
from sitebench.verdict.verdict import Bound

_KEY = ("suite", "operation", "entries", "target", "client")


class Seen(msgspec.Struct, frozen=True):
    """How often the rate of a search held, and how often the next higher rate broke."""

    held: int
    held_of: int
    broke_at: float
    broke: int
    broke_of: int


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `peak`, for `peaks` in the manifest and for `--json`."""

    suite: str
    operation: str
    entries: int
    target: str
    client: str
    objective: str | None = None
    best: str | None
    rate: float | None
    interval: tuple[float, float] | None = None
    """The 95 % interval of the median, for a sweep over clients."""
    seen: Seen | None = None
    knee: dict[str, float] | None
    said: str
    users_objective: str | None = None
    users: int | None = None
    """The largest number of users that meets `users_objective`."""

    @property
    def key(self) -> dict[str, Any]:
        """The points and the objective of the answer."""
        names = (*_KEY, "objective", "users_objective")
        return {name: getattr(self, name) for name in names}

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def clients_peak(points: Sequence[Series], bend: Spot | None) -> Peak:
    """Return the answer of a sweep over client counts: the highest usable rate."""
    sound = [s for s in points if s.usable and failed_share(s.results) <= MOST_FAILED]
    best = max(sound, key=lambda series: series.median(ops_per_s) or 0.0, default=None)
    interval = None if best is None else best.interval(ops_per_s)
    return Peak(
        **key_of(points[0].spec),
        best=None if best is None else best.spec.key,
        rate=None if best is None else best.median(ops_per_s),
        interval=None if interval is None else (interval.low, interval.high),
        knee=knee_facts(bend),
        said=_clients_answer(points, best, bend),
    )


def key_of(spec: PointSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in _KEY}


def knee_facts(bend: Spot | None) -> dict[str, float] | None:
    return None if bend is None else {"load": bend.load, "rate": bend.rate}


def _clients_answer(points: Sequence[Series], best: Series | None, bend: Spot | None) -> str:
    name = points[0].spec.what
    if best is None:
        return f"{name}: no point is usable: the peak is not known."
    most_users = max(series.spec.users for series in points)
    around_it = ""
    if best.n > 1:
        kind = "95% interval" if best.interval(ops_per_s) else "least and greatest"
        around_it = f" (median of {best.n}, {kind} {around(best, ops_per_s, format_rate)})"
    rate = best.median(ops_per_s) or 0.0
    if not best.valid:
        clients = f"with {best.spec.clients}{around_it}"
        by_others = any(r.verdict.bound == Bound.OTHERS for r in best.results)
        limit = "other programs had the cores" if by_others else "the load generator was the limit"
        return f"{name}: at least {format_rate(rate)}/s, {clients}; {limit}."
    answer = f"{name}: highest measured {format_rate(rate)}/s, with {best.spec.clients}{around_it}"
    spoilt = [s for s in points if not s.valid or failed_share(s.results) > MOST_FAILED]
    higher = [series for series in spoilt if (series.median(ops_per_s) or 0.0) > rate]
    if higher:
        answer += f"; the point with {higher[-1].spec.clients} is not usable"
    if bend is None:
        return f"{answer}; no knee up to {plural(most_users, 'client')}."
    return (
        f"{answer}; the knee is at {plural(round(bend.load), 'client')} "
        f"({format_rate(bend.rate)}/s, mean {format_ns(bend.response_us * 1e3)}): beyond it "
        "response time grows faster than the rate."
    )


_ANSWERS = {
    Outcome.PASSED: "holds",
    Outcome.MISSED: "missed",
    Outcome.FAILED: "failed",
}


def clients_table(
    points: Sequence[Series], bend: Spot | None, best: str | None, judged: Sequence[Judged]
) -> Table:
    repeated = any(series.n > 1 for series in points)
    extra = ("around",) if repeated else ()
    answers = {number.spec.users: _ANSWERS.get(number.outcome, "not known") for number in judged}
    columns = ("clients", "rate/s", *extra, "mean", "p50", "p95", "p99", "CPU", "bound by")
    rows: list[Row] = []
    for series in sorted(points, key=lambda series: series.spec.users):
        share = failed_share(series.results)
        marks = [
            *(["knee"] if bend is not None and series.spec.users == bend.load else []),
            *(["highest rate"] if series.spec.key == best else []),
            *([f"{share:.1%} failed"] if share > MOST_FAILED else []),
        ]
        rows.append(
            [
                f"{series.spec.users:,}",
                rate_mark(series),
                *([around(series, ops_per_s, format_rate)] if repeated else []),
                *(latency_mark(series, name) for name in ("mean", "p50", "p95", "p99")),
                *medians([series], lambda r: r.use.target_cpu_percent, _percent),
                limit(series),
                *([answers[series.spec.users]] if answers else []),
                ", ".join(marks),
            ]
        )
    title = f"Throughput and latency by clients: {points[0].spec.what}"
    answered = ("objective",) if answers else ()
    return Table(title, (*columns, *answered, "note"), rows, left=0)


def _percent(value: float) -> str:
    return f"{value:.1f}%"


class Probe(msgspec.Struct, frozen=True):
    """A trial of a search and its reply; no result if the load generator failed."""

    trial: Trial
    spec: PointSpec
    result: PointResult | None
    reply: Reply


_MARKS = {
    Answer.HELD: Mark.PASS,
    Answer.BROKE: Mark.POSSIBLE,
    Answer.TESTER: Mark.FAIL,
    Answer.BUSY: Mark.FAIL,
}


def rates_table(tried: Sequence[Probe], best: float | None) -> Table:
    """Return the trials of a search in their order; the rows of the best rate are marked."""
    spread = len({probe.spec.users for probe in tried}) > 1
    lanes = ("lanes",) if spread else ()
    columns = ("asked/s", *lanes, "for", "rate/s", "p50", "p95", "p99", "CPU", "bound by", "answer")
    rows: list[Row] = []
    for probe in tried:
        spec, answer = probe.spec, probe.reply.answer
        series = Series(spec, () if probe.result is None else (probe.result,))
        rows.append(
            [
                f"{spec.rate:,g}",
                *([f"{spec.users:,}"] if spread else []),
                f"{spec.measure_s:g}s",
                rate_mark(series),
                *(latency_mark(series, name) for name in ("p50", "p95", "p99")),
                *medians([series], lambda r: r.use.target_cpu_percent, _percent),
                limit(series),
                Cell(f"{answer}{', best' if spec.rate == best else ''}", _MARKS[answer]),
            ]
        )
    title = f"Search for the highest rate: {tried[0].spec.what}"
    return Table(title, columns, rows, left=0)


def see_limit(highest: HighestRate, tried: Sequence[Probe]) -> Seen | None:
    """Return how often the rates held and broke; None if the target's limit is not known."""
    if highest.rate is None or highest.ceiling is None or not highest.limit_known:
        return None

    def of_target(rate: float) -> list[Probe]:
        # Trials are left out if the rate possibly broke because of other programs or too few lanes.
        return [
            probe
            for probe in tried
            if probe.trial.rate == rate
            and probe.reply.answer.of_target
            and not (probe.reply.crowded and probe.trial.users < highest.users)
        ]

    high = highest.ceiling.rate
    replies = [probe.reply.answer for probe in of_target(highest.rate) if probe.trial.long]
    broke = [probe.reply.answer for probe in of_target(high)]
    times, n = replies.count(Answer.HELD), len(replies)
    return Seen(times, n, high, broke.count(Answer.BROKE), len(broke))


def rates_answer(
    highest: HighestRate,
    spec: PointSpec,
    objective: Objective,
    plan: SearchPlan,
    hold_s: float,
    *,
    saw: Seen | None,
) -> str:
    name, ceiling = spec.what, highest.ceiling
    message = "" if ceiling is None else ceiling.reply.message
    reason = "" if ceiling is None else f"at {ceiling.rate:,g}/s {message}"
    if highest.rate is None and ceiling is not None and not highest.limit_known:
        first = "the load generator reached its own first"
        if ceiling.reply.answer is Answer.BUSY:
            first = "this machine was busy with other programs"
        return f"{name}: the target's limit is not known, {first}: {reason}"
    if highest.rate is None:
        return f"{name}: no rate from {plan.lowest:,g}/s up holds {objective}: {reason}"
    answer = f"{name}: sustains {highest.rate:,g}/s with {objective}"
    hold = format_duration(hold_s)
    if plan.apart_s:
        hold += f", {format_duration(plan.apart_s)} apart"
    if saw is None:
        above = f"The target's own limit lies above and is not known: {reason}"
        return f"{answer} (held {plan.holds} of {plan.holds} times for {hold}). {above}."
    return (
        f"{answer}: held {saw.held} of {saw.held_of} times for {hold}, "
        f"and broke {saw.broke} of {saw.broke_of} times at {saw.broke_at:,g}/s ({message})."
    )
