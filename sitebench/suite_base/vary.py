"""`vary` of every suite: one factor varies and other factors are constant (docs/tuning.md)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text

from sitebench.compare.effect import Effect, effect, odd_and_even
from sitebench.counts.metrics import LATENCY
from sitebench.errors import BadInput, NotPossible, UnknownValue
from sitebench.measure.command import Seeding, measure, say
from sitebench.measure.options import run_file
from sitebench.options.option import fields_of, named
from sitebench.runs import identity
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, series
from sitebench.suite_base.options import Part, SuiteOptions
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.table import Cell, Mark, Row, Table
from sitebench.tables.tables import latency_mark, latency_tables, limit, rate_mark
from sitebench.tables.terminal import Printable, to_text
from sitebench.targets.limits import Limits, confine

if TYPE_CHECKING:
    from sitebench.measure.sweep import Stage
    from sitebench.suite_base.points import SuitePoints

_DIRECTIVE = "config:"
_ALPHA = 0.05
_SWITCH = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
_SCALES = ("processors", "workers", "target-threads", "threads")
"""Factors with which the rate can scale linearly."""
_LIMITS = Limits.__struct_fields__
_ALIASES = {"workers": "target_threads"}
"""Options of factors whose names differ from the option's."""


class Level(msgspec.Struct, frozen=True):
    """A value of a factor, and the options of its point."""

    factor: str
    value: str
    options: SuiteOptions


def vary(
    points: SuitePoints[Any, Any, Any], base: Any, operation: str, variations: Sequence[str]
) -> None:
    points.check(base, [points.program(base, operation)])
    levels = _possible(read(base, variations), points.targets.folder(base))
    for level in levels:
        points.check(level.options, [points.program(level.options, operation)])
    if not levels:
        raise BadInput("nothing is left to vary", "give --vary FACTOR=VALUE,VALUE")

    def first(results: Sequence[PointResult]) -> list[Printable]:
        return [table(results, base_key, keys), *_notes(results, keys, points.notes)]

    base_key = points.point(base, operation).key
    keys = [(level, points.point(level.options, operation).key) for level in levels]

    def stages(seeding: Seeding) -> list[Stage]:
        stage_by_key = {base_key: points.stage(Part(base, [operation]), seeding)}
        for level, key in keys:
            stage_by_key.setdefault(key, points.stage(Part(level.options, [operation]), seeding))
        return list(stage_by_key.values())

    measure(
        base,
        users=max(options.users for options in (base, *(level.options for level in levels))),
        stages=stages,
        facts=lambda: points.facts(base, [base.people]),
        first=first,
        tables=lambda results: [*latency_tables(results), *bottleneck_tables(results)],
        default_out=run_file(f"{points.suite.name}-vary"),
        afterwards=points.leftovers(base),
        grows=not base.is_set("measure"),
        lot=random.Random(base.seed),
    )


def read(base: Any, variations: Sequence[str]) -> list[Level]:
    levels = []
    for text in variations:
        factor, _, values = text.partition("=")
        if not factor or not values:
            raise UnknownValue(
                f"--vary: {text!r} is not FACTOR=VALUES",
                "write FACTOR=VALUE,VALUE, such as workers=1,2",
            )
        level_values = (part.strip() for part in values.split(","))
        levels += [Level(factor, value, _with_level(base, factor, value)) for value in level_values]
    return levels


def _with_level(base: Any, factor: str, value: str) -> Any:
    if factor in _LIMITS:
        limits = (base.target_limits or Limits()).with_limit(factor, value)
        return replace(base, target_limits=None if limits == Limits() else limits)
    if factor.startswith(_DIRECTIVE) and hasattr(base, "directives"):
        name = factor.removeprefix(_DIRECTIVE)
        return replace(base, directives={**(base.directives or {}), name: value})
    name = _ALIASES.get(factor, factor).replace("-", "_")
    if name == "stages":
        raise UnknownValue("--vary: stages have no constant rate to compare", "vary the rate")
    for field, spec in fields_of(type(base)):
        if field.name == name and (spec.setting or name) in identity.OPTIONS and not spec.hidden:
            if not spec.is_flag:
                return replace(base, **{name: named(spec.parse, f"--vary {factor}")(value)})
            if value not in _SWITCH:
                raise UnknownValue(
                    f"--vary {factor}: {value!r} is neither on nor off", "write on,off"
                )
            return replace(base, **{name: _SWITCH[value]})
    factors = [*_LIMITS, *_ALIASES, "any option of `run` without its dashes"]
    if hasattr(base, "directives"):
        factors.append(f"{_DIRECTIVE}DIRECTIVE")
    raise UnknownValue(f"--vary: {factor!r} cannot be varied", f"vary {', '.join(factors)}")


def _possible(levels: Sequence[Level], data: Path | None) -> list[Level]:
    possible_levels = []
    for level in levels:
        try:
            with confine(level.options.target_limits, data):
                possible_levels.append(level)
        except NotPossible as error:
            say(f"left out: {level.factor}={level.value}: {error.message}; {error.remedy}")
    return possible_levels


def table(
    results: Sequence[PointResult], base_key: str, levels: Sequence[tuple[Level, str]]
) -> Table:
    """Return a table with the rate, the gain and the limit of each level.

    If the options set a rate, the table compares the latency instead.
    """
    series_by_key = {point.spec.key: point for point in series(results)}
    base, comparisons = series_by_key[base_key], len({key for _, key in levels} - {base_key})
    is_rate_fixed = base.spec.rate is not None
    figure_of = (lambda point: latency_mark(point, "p50")) if is_rate_fixed else rate_mark
    brings = ("p50", "Change") if is_rate_fixed else ("Rate/s", "Gain")
    rows: list[Row] = [["(base)", "", figure_of(base), "", "", f"{base.failures:,}", limit(base)]]
    if (null_effect := _null(series_by_key.values(), _ALPHA / max(1, comparisons))) is not None:
        rows.append(["(null)", "odd, even", "", *_cells(null_effect), "", ""])
    for level, key in levels:
        point = series_by_key[key]
        gain = _gain(base, point, _ALPHA / comparisons) if key != base_key else None
        none = "is the base" if key == base_key else "-"
        rows.append(
            [
                *(level.factor, level.value, figure_of(point)),
                *((none, "-") if gain is None else _cells(gain)),
                *(f"{point.failures:,}", limit(point)),
            ]
        )
    title = f"{base.spec.title}: one option varied, all others kept ({base.spec.target})"
    columns = ("Factor", "Value", *brings, "interval", "Fails", "Limit")
    return Table(title, columns, rows, left=2)


def _gain(base: Series, level: Series, alpha: float) -> Effect | None:
    """Return the effect of a level on the base, paired by repeat; None if not comparable."""
    if not (_is_comparable(base) and _is_comparable(level)):
        return None
    if (base.spec.rate is None) != (level.spec.rate is None):
        return None
    base_logs, level_logs = (
        {r.spec.repeat: _log(r) for r in point.results} for point in (base, level)
    )
    pairs = [
        (base_log, level_log)
        for repeat, base_log in base_logs.items()
        if base_log is not None and (level_log := level_logs.get(repeat)) is not None
    ]
    if not pairs:
        return None
    a, b = zip(*pairs, strict=True)
    return effect(a, b, alpha)


def _is_comparable(point: Series) -> bool:
    """Return whether a point is valid with few failures; failures can be faster than answers."""
    return point.valid and not any(result.fails_too_often for result in point.results)


def _log(result: PointResult) -> float | None:
    """Return the logarithm of the compared figure; None if unknown."""
    latency = result.clocks[LATENCY]
    figure = result.ops_per_s if result.spec.rate is None else latency.p50
    bound = result.spec.rate is not None and "p50" in latency.at_least
    return math.log(figure) if figure and not bound else None


def _null(points: Iterable[Series], alpha: float) -> Effect | None:
    """Return the effect of even repeats over odd repeats of the same points, which is noise."""
    odd, even = list[float](), list[float]()
    for point in points:
        logs = [log for result in point.results if (log := _log(result)) is not None]
        if _is_comparable(point) and len(logs) == point.n:
            odd_logs, even_logs = odd_and_even(logs)
            odd, even = odd + odd_logs, even + even_logs
    return effect(odd, even, alpha) if odd else None


def _cells(gain: Effect) -> tuple[str, str]:
    if gain.low is None or gain.high is None:
        return f"{gain.ratio - 1:+.1%}", "-"
    return f"{gain.ratio - 1:+.1%}", f"{gain.low - 1:+.1%} to {gain.high - 1:+.1%}"


def _notes(
    results: Sequence[PointResult],
    levels: Sequence[tuple[Level, str]],
    notes: Callable[[str], Sequence[str]],
) -> list[Text]:
    factors = dict.fromkeys(level.factor for level, _ in levels)
    lines = scaling_lines(results, levels)
    lines += [line for factor in factors for line in notes(factor)]
    return [to_text(Cell(line, Mark.UNKNOWN)) for line in lines]


class Scaling(msgspec.Struct, frozen=True):
    ratio: float
    per_processor: float
    """Efficiency: the ratio of rates, divided by the ratio of the numbers of processors."""

    @property
    def gain_percent(self) -> float:
        return 100 * (self.ratio - 1)


def scaling(few: float, many: float, *, processors: tuple[int, int] = (1, 2)) -> Scaling:
    ratio = many / few
    return Scaling(ratio, ratio * processors[0] / processors[1])


def scaling_lines(results: Sequence[PointResult], levels: Sequence[tuple[Level, str]]) -> list[str]:
    series_by_key, lines = {point.spec.key: point for point in series(results)}, []
    for (level, key), (next_level, key_after) in pairwise(levels):
        counted = level.value.isdecimal() and next_level.value.isdecimal()
        if level.factor != next_level.factor or level.factor not in _SCALES or not counted:
            continue
        if not (_is_comparable(series_by_key[key]) and _is_comparable(series_by_key[key_after])):
            continue
        if series_by_key[key].spec.rate is not None:
            continue  # At a given rate, the throughput cannot rise.
        few, many = int(level.value), int(next_level.value)
        rates = [series_by_key[k].median(lambda result: result.ops_per_s) for k in (key, key_after)]
        if 0 < few < many and rates[0] and rates[1]:
            grew = scaling(rates[0], rates[1], processors=(few, many))
            times = "twice" if many == 2 * few else f"{many / few:.3g} times"
            lines.append(
                f"{level.factor} {few} to {many}: {grew.gain_percent:+.0f} %, "
                f"{grew.per_processor:.0%} of the possible gain of {times} the {level.factor}"
            )
    return lines
