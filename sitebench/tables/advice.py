"""Advice on the figures of a run: each cause once, with its points and its remedy."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from sitebench.errors import printable
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.repeats import Series, series
from sitebench.units import format_size
from sitebench.verdict.verdict import Bound, Quoted
from sitebench.verdict.warning import PointWarning, WarningKind
from sitebench.verdict.warnings import LONGER, MORE_LOAD, QUOTA, WOKE_LATE, longest_window

_MOST_NAMED = 6
"""More points are counted instead of named."""

_NOISY, _SHARED = WarningKind.NOISY_MACHINE, WarningKind.SHARED_CORES
_STARVED, _NEAR_CEILING = WarningKind.GENERATOR_STARVED, WarningKind.GENERATOR_NEAR_CEILING

_CAUSES: Mapping[str, frozenset[str]] = {
    _STARVED: frozenset((_NOISY, _SHARED)),
    WarningKind.OTHERS_IN_LATENCY: frozenset((_NOISY,)),
    WarningKind.ANSWERS_UNREAD: frozenset((_NOISY, _SHARED, _STARVED, _NEAR_CEILING)),
    WarningKind.SCHEDULE_LAG: frozenset((_NOISY, _SHARED, _STARVED, _NEAR_CEILING)),
}
"""A warning is left out if its point also has a warning of these kinds, which states the cause."""

_EXPLANATIONS: Mapping[str, frozenset[str]] = {
    Bound.GENERATOR: frozenset(
        (_NOISY, _STARVED, _NEAR_CEILING, WarningKind.SCHEDULE_LAG, WarningKind.WORKER_LOST)
    ),
    Bound.OTHERS: frozenset((_NOISY,)),
    Bound.UNSETTLED: frozenset((WarningKind.UNSETTLED, WarningKind.TOO_SHORT)),
}
"""Warnings that explain why a point is not valid."""

_LAST = (
    *(WarningKind.TOO_SHORT, WarningKind.TOO_FEW_SAMPLES),
    *(WarningKind.UNWATCHED, WarningKind.PROXIED),
)

_REMEDIES: Mapping[str, str] = {
    Bound.GENERATOR: MORE_LOAD,
    Bound.OTHERS: "end other programs, and measure again",
}


class Advice(msgspec.Struct):
    kind: str
    remedy: str
    bad: bool = False
    messages: dict[str, list[PointSpec]] = {}
    """The points by message: messages with different figures are different messages."""
    concerned: dict[int, set[int]] = {}
    """The repeats of each point."""

    @property
    def first(self) -> PointSpec:
        return next(iter(self.messages.values()))[0]


def advise(points: Sequence[Series]) -> list[Advice]:
    """Return each remedy once; remedies of the kinds in `_LAST` are at the end."""
    advices: dict[str | tuple[str, str], Advice] = {}
    for n, point in enumerate(points):
        for result in point.results:
            for warning in _causes(result):
                longer = warning.remedy.startswith(LONGER)
                advice = advices.setdefault(
                    LONGER if longer else (warning.kind, warning.remedy),
                    Advice(warning.kind, warning.remedy),
                )
                if longer:
                    advice.remedy = longest_window((advice.remedy, warning.remedy))
                advice.concerned.setdefault(n, set()).add(result.spec.repeat)
                advice.messages.setdefault(warning.message, []).append(result.spec)
                advice.bad |= result.verdict.grade is Quoted.NOT_USABLE
    return sorted(advices.values(), key=lambda advice: advice.kind in _LAST)


class WhatToDo:
    def __init__(self, results: Sequence[PointResult]) -> None:
        self._points = series(results)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not (lines := self.lines(options.max_width)):
            return
        yield Text("\nWhat to do", style="bold")
        for line in lines:
            style = "" if line.startswith("-") else "dim"
            yield Text(line, style=style, no_wrap=True, overflow="ignore")

    def lines(self, width: int) -> list[str]:
        lines = []
        for advice in advise(self._points):
            place, first = self._places(advice.concerned), advice.first
            alone = sum(one.n for one in self._points) == 1
            point_name = "" if alone else f"{self._name(first)}: "
            # Only messages of the first point are shown: the figures of other points differ.
            messages = [text for text, specs in advice.messages.items() if specs[0] is first]
            lines += _wrap(f"- {advice.remedy}{f' ({place})' if place else ''}", width)
            lines += _wrap(f"  {point_name}{'; '.join(messages)}", width)
        return lines

    def _places(self, concerned: Mapping[int, set[int]]) -> str:
        """Return the points of a remedy: `lookup at 1k, 10k; add at 1k`."""
        if len(self._points) == 1 and len(concerned[0]) == self._points[0].n:
            return ""
        places: dict[str, list[str]] = {}
        by_clients = self._by_clients()
        for n, repeats in concerned.items():
            point = self._points[n]
            place = f"{point.spec.users:,}" if by_clients else format_size(point.spec.entries)
            if len(repeats) < point.n:
                unit = " clients" if by_clients else ""
                place += f"{unit} ({len(repeats)} of {point.n} repeats)"
            places.setdefault(point.spec.operation, []).append(place)
        whole = all(len(concerned.get(n, ())) == point.n for n, point in enumerate(self._points))
        if whole:
            return "both points" if len(self._points) == 2 else f"all {len(self._points)} points"
        is_ambiguous = any(len(set(sizes)) < len(sizes) for sizes in places.values())
        if is_ambiguous or len(concerned) > _MOST_NAMED:
            return f"{len(concerned)} of {len(self._points)} points"
        labels = {name: ", ".join(sizes) for name, sizes in places.items()}
        if not by_clients:
            return "; ".join(f"{name} at {label}" for name, label in labels.items())
        return "; ".join(
            f"{name}, {label}{'' if label.endswith(')') else ' clients'}"
            for name, label in labels.items()
        )

    def _name(self, spec: PointSpec) -> str:
        by_clients = self._by_clients() and spec.entries
        return spec.with_repeat(f"{spec.title}, {spec.clients}" if by_clients else spec.title)

    def _by_clients(self) -> bool:
        specs = [point.spec for point in self._points]
        return not all(spec.entries for spec in specs) or len({spec.users for spec in specs}) > 1


def _causes(result: PointResult) -> list[PointWarning]:
    """Return a point's warnings, without a warning whose cause another warning states."""
    verdict = result.verdict
    kinds = {warning.kind for warning in verdict.warnings}
    causes = [warning for warning in verdict.warnings if not _is_explained(warning, kinds)]
    covered = kinds & _EXPLANATIONS.get(verdict.bound, frozenset())
    if verdict.valid or covered or any(warning.spoils for warning in verdict.warnings):
        return causes
    remedy = _REMEDIES.get(verdict.bound, "do not use its rate")
    return [PointWarning(verdict.bound, verdict.evidence, remedy), *causes]


def _is_explained(warning: PointWarning, kinds: set[str]) -> bool:
    if warning.kind == WarningKind.SCHEDULE_LAG and warning.remedy != WOKE_LATE:
        return False
    if warning.remedy == QUOTA:
        return False
    return bool(_CAUSES.get(warning.kind, frozenset()) & kinds)


def _wrap(text: str, width: int) -> list[str]:
    safe_text = printable(text, len(text))
    return textwrap.wrap(
        safe_text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
