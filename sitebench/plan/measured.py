"""Rates from a run: the highest among the loads that were tried, as a median over repeats.

What is not the target's number (generator-bound, unsettled, failed) is left out, and said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sitebench.plan.parse import Meets
from sitebench.plan.rates import RateTable, Remark
from sitebench.plan.suite import PlanSuite
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Of, Series, series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Bound

_TRIED = ("users", "rate", "warmup", "measure", "think", "threads", "timeout", "seed")
LOAD = frozenset((*_TRIED, "entries", "target", "client"))
"""Settings that say how hard and how long it was tried, or that a point names already: points
that differ in others measured other things, and are tables of their own."""


def tables_of(
    results: Iterable[PointResult], suite: PlanSuite, meets: Meets | None = None
) -> tuple[RateTable, ...]:
    """Return one table per target that a run measured, in the order of the run.

    With `meets`, only the loads that met the objective count.
    """
    found: dict[tuple[str, ...], list[Series]] = {}
    for each in series(results):
        if each.spec.half == suite.name and suite.operation(each) is not None:
            found.setdefault(_target(each), []).append(each)
    names = _names(list(found))
    return tuple(_table(names[key], suite, chosen, meets) for key, chosen in found.items())


def _target(each: Series) -> tuple[str, ...]:
    """Return what tells two targets apart: numbers of two are never mixed."""
    spec = each.spec
    kept = {name: value for name, value in spec.settings.items() if name not in LOAD}
    return spec.target, spec.client, json.dumps(kept, sort_keys=True)


def _names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Name every target by no more than tells it from the others."""
    settings: list[dict[str, Any]] = [json.loads(key[2]) for key in keys]
    differ = sorted(
        name
        for name in {name for each in settings for name in each}
        if len({each.get(name) for each in settings}) > 1
    )
    clients = {key[1] for key in keys}
    return {
        key: ", ".join(
            [
                key[0],
                *([key[1]] if len(clients) > 1 else []),
                *(f"{name}={each[name]}" for name in differ if name in each),
            ]
        )
        for key, each in zip(keys, settings, strict=True)
    }


def _table(
    machine: str, suite: PlanSuite, found: Sequence[Series], meets: Meets | None
) -> RateTable:
    sizes = tuple(sorted({each.spec.entries for each in found}))
    operations = list(dict.fromkeys(filter(None, map(suite.operation, found))))
    rates: dict[str, tuple[float | None, ...]] = {}
    remarks: list[Remark] = []
    for operation in operations:
        row = []
        for size in sizes:
            tried = [s for s in found if (suite.operation(s), s.spec.entries) == (operation, size)]
            best, said = _best(tried, suite.rate, meets)
            row.append(best)
            remarks += [Remark(operation, size, each) for each in said]
        rates[operation] = tuple(row)
    return RateTable(machine, sizes, rates, tuple(remarks))


def _best(tried: Sequence[Series], rate: Of, meets: Meets | None) -> tuple[float | None, list[str]]:
    """Return the highest rate that may be planned with, and what is to be said of it."""
    said = [f"left out, {_why(each)}" for each in tried if not each.valid]
    sound = [(value, each) for each in tried if each.valid and (value := each.median(rate))]
    if meets is not None and sound:
        kept = [(value, each) for value, each in sound if meets(each)]
        if not kept:
            least = min(value for value, _ in sound)
            said.append(f"no load from {format_rate(least)}/s up met the objective")
        sound = kept
    if not sound:
        return None, said
    best, chosen = max(sound, key=lambda pair: pair[0])
    if meets is None and all(r.verdict.bound == Bound.SCHEDULE for r in chosen.results):
        said.append("the schedule's rate was kept, so the target can do more")
    if chosen.failures:
        said.append(f"{chosen.failures:,} operations failed")
    return best, said


def _why(each: Series) -> str:
    verdict = next(r.verdict for r in each.results if not r.verdict.valid)
    return f"{verdict.bound}: {verdict.evidence}"
