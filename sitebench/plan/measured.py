"""Rates from a run, as docs/planner.md describes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from sitebench.errors import BadInput
from sitebench.measure.objective import Objective, ObjectiveState, worst
from sitebench.measure.peak.search import Answer, reply_of
from sitebench.plan.rates import RateTable, Remark
from sitebench.plan.suite import PlanSuite
from sitebench.runs.counting import same_steps
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Of, Series, series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Bound, Quoted

_SAME_TABLE = frozenset(("arrivals", "think", "threads", "until", "timeout", "seed"))
"""Settings of load and duration; points of the same rate table can differ in these."""


def tables_of(
    results: Iterable[PointResult], suite: PlanSuite, objective: Objective | None = None
) -> tuple[RateTable, ...]:
    """Return a table for each target of a run, in the order of the run."""
    groups: dict[tuple[str, ...], list[Series]] = {}
    for point in series(results):
        # A test in stages is left out: its rate is a mean over changing loads.
        of_suite = point.spec.suite == suite.name and point.spec.stages is None
        if of_suite and suite.operation(point) is not None:
            groups.setdefault(_target_key(point.spec), []).append(point)
    names = _target_names(list(groups))
    return tuple(_table(names[key], suite, points, objective) for key, points in groups.items())


def _target_key(spec: PointSpec) -> tuple[str, ...]:
    """Return a key that is equal for points of the same rate table: target, client, settings."""
    settings = sorted(item for item in spec.settings.items() if item[0] not in _SAME_TABLE)
    return spec.target, spec.client, *(f"{name}={value}" for name, value in settings)


def _target_names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Name each target by the settings in which it differs from other targets."""
    parts = 2 if len({key[1] for key in keys}) > 1 else 1
    counts = Counter(text for key in keys for text in key[2:])
    return {
        key: ", ".join([*key[:parts], *(text for text in key[2:] if counts[text] < len(keys))])
        for key in keys
    }


def _table(
    machine: str, suite: PlanSuite, points: Sequence[Series], objective: Objective | None
) -> RateTable:
    sizes = tuple(sorted({point.spec.entries for point in points}))
    operations = list(dict.fromkeys(filter(None, map(suite.operation, points))))
    rates: dict[str, tuple[float | None, ...]] = {}
    remarks: list[Remark] = []
    for operation in operations:
        row = []
        for size in sizes:
            tried = [s for s in points if (suite.operation(s), s.spec.entries) == (operation, size)]
            best, notes = _best(tried, suite.rate, objective, partial(Remark, operation, size))
            row.append(best)
            remarks += notes
        rates[operation] = tuple(row)
    return RateTable(machine, sizes, rates, tuple(remarks))


_Rates = list[tuple[float, Series]]


def _that_met(
    valid: _Rates, tried: Sequence[Series], objective: Objective
) -> tuple[_Rates, tuple[str, str] | None]:
    """Return the rates that met the objective; if none did, the reason and the remedy.

    A rate that met the objective in a search's short window is left out if the same or a lower rate
    missed it in a longer window.
    """
    spec = valid[0][1].spec
    search = (
        f"search for the rate that meets it: sitebench {spec.suite} peak {spec.operation} "
        f"--objective '{objective}', with the run's --target and its other options"
    )
    arrived = [pair for pair in valid if pair[1].spec.rate is not None]
    if not arrived:
        reason = (
            "its users waited for each answer, which does not show the latency for independent "
            "users"
        )
        return [], (reason, search)
    at_random = [pair for pair in arrived if pair[1].spec.arrivals != "even"]
    if not at_random:
        return [], ("its arrivals were evenly spaced, and those of people are random", search)
    states = [
        (pair, worst(objective.judge(result).state for result in pair[1].results))
        for pair in at_random
    ]
    broke = [point for point in tried if _broke(point, objective)]
    met = [
        pair
        for pair, state in states
        if state is ObjectiveState.MET and not any(_outweighs(point, pair[1]) for point in broke)
    ]
    if met:
        return met, None
    least = format_rate(min(value for value, _ in at_random))
    if all(state is ObjectiveState.UNKNOWN for _, state in states):
        return [], (
            f"at {least}/s it is not known whether the objective is met, as there were too few "
            "operations",
            "measure longer (--measure)",
        )
    return [], (f"no rate from {least}/s up met the objective", f"{search}; or allow more time")


def _broke(point: Series, objective: Objective) -> bool:
    """Return whether a search would call a target overloaded at this rate."""
    return point.spec.rate is not None and any(
        reply_of(result, objective).answer is Answer.BROKE
        for result in point.results
        if objective.judge(result).state is not ObjectiveState.UNKNOWN
    )


def _outweighs(broke: Series, met: Series) -> bool:
    """Return whether `broke` had at most the rate, and at least the window and users, of `met`."""
    broken, other = broke.spec, met.spec
    return (
        (broken.rate or 0.0) <= (other.rate or 0.0)
        and broken.measure_s >= other.measure_s
        and broken.users >= other.users
    )


def _of_one_kind(
    tried: Sequence[Series], remarks: list[Remark], remark: Callable[..., Remark]
) -> Iterator[Series]:
    """Yield the points whose counts are of one kind of step; raise if the kinds differ."""
    kinds: dict[bool, PointResult] = {}
    for point in tried:
        for result in point.results:
            # With a set rate, a web request counts another step than without a rate: both kinds are
            # checked separately.
            first = kinds.setdefault(point.spec.rate is None, result)
            if not same_steps(first, result):
                raise BadInput(
                    f"{point.spec.what} counts {_words(first.counts)} in some points and "
                    f"{_words(result.counts)} in others: these are not rates of the same operation",
                    "plan from runs that count the same steps",
                )
        programs = {s.program for s in point.results[0].steps if s.counted and s.count}
        # A plus joins the names of several user classes. Operations of a scenario file count
        # together.
        several = "+" in point.spec.operation and not point.spec.of_a_file
        if several and len(programs) > 1 < len(counts := point.results[0].counts):
            reason = f"left out: its rate counts {_words(counts)} together"
            remarks.append(remark(reason, "measure each operation alone"))
        else:
            yield point


def _words(counts: Sequence[str]) -> str:
    return " and ".join(counts) or "nothing"


def _best(
    tried: Sequence[Series], rate: Of, objective: Objective | None, remark: Callable[..., Remark]
) -> tuple[float | None, list[Remark]]:
    """Return the highest rate to plan with, and remarks on it."""
    remarks: list[Remark] = []
    for point in (tried := [*_of_one_kind(tried, remarks, remark)]):
        if not point.usable:
            spoiled = (r.verdict for r in point.results if r.verdict.grade == Quoted.NOT_USABLE)
            verdict = next(spoiled)
            remarks.append(remark(f"left out, {verdict.bound}: {verdict.evidence}"))
    valid = [(value, point) for point in tried if point.usable and (value := point.median(rate))]
    if objective is not None and valid:
        valid, reason = _that_met(valid, tried, objective)
        if reason is not None:
            remarks.append(remark(*reason))
    if not valid:
        return None, remarks
    best, point = max(valid, key=lambda pair: pair[0])
    if objective is None and all(r.verdict.bound == Bound.SCHEDULE for r in point.results):
        remarks.append(remark("the requested rate was kept, so the target's limit is higher"))
    if point.grade == Quoted.AT_LEAST:
        of_others = any(r.verdict.bound == Bound.OTHERS for r in point.results)
        limit = "other programs had the cores" if of_others else "the load generator was the limit"
        remarks.append(remark(f"a lower bound: {limit}, so the target's limit may be higher"))
    if point.failures:
        remarks.append(remark(f"{point.failures:,} operations failed"))
    return best, remarks
