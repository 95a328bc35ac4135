"""The end of a run: one table with a row per point, and what the figures need to be read."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from sitebench.counts.metrics import THINKING
from sitebench.counts.source import SEQUENCE
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, least_repeats, series
from sitebench.tables.table import Cell
from sitebench.tables.tables import around, latency_mark, limit, rate_mark, rate_of
from sitebench.tables.terminal import to_text
from sitebench.units import format_duration, format_rate, format_size
from sitebench.verdict.verdict import Bound, Quoted

_GAP = "  "
_DROPPED = ("p95", "p50")
"""Columns that a narrow terminal has no room for, the first to go first."""
_LOWER = Quoted.AT_LEAST
_TOO_HIGH = {
    Bound.GENERATOR: "too high by the tester's own delays",
    Bound.OTHERS: "too high beside other programs",
}
"""What a star says of a latency whose rate is a lower bound."""
_SEVERAL = 1.5
"""A step is counted more than once in an operation where it has a higher rate by this factor."""
LONGER = 1.5
"""A window is so much longer than asked for where it was extended until something is known."""


class _Column(msgspec.Struct, frozen=True):
    name: str
    cells: Sequence[str | Cell]
    right: bool = True

    @property
    def width(self) -> int:
        return max(to_text(cell).cell_len for cell in (self.name, *self.cells))

    def lines(self) -> list[Text]:
        """Return the name and the cells, all of the same width."""
        found = [to_text(cell) for cell in (self.name, *self.cells)]
        for each in found:
            each.align("right" if self.right else "left", self.width)
        return found


class PointsTable:
    """A row per point. Its figures are never cut or wrapped."""

    def __init__(self, results: Sequence[PointResult]) -> None:
        points = series(results)
        self._found = [part for each in points for part in (each, *each.parts)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        title, columns = _title(self._found), _columns(self._found)
        if _width(columns) > options.max_width and len(set(columns[0].cells)) == 1:
            title, columns = f"{columns[0].cells[0]}, {title}", columns[1:]
        for name in _DROPPED:
            if _width(columns) > options.max_width:
                columns = [each for each in columns if each.name != name]
        yield Text(title, style="bold")
        for n, row in enumerate(zip(*(each.lines() for each in columns), strict=True)):
            line = Text(_GAP, no_wrap=True, overflow="ignore", style="" if n else "dim").join(row)
            line.rstrip()
            yield line
        yield from (Text(note, style="dim") for note in _notes(self._found))


def _width(columns: Sequence[_Column]) -> int:
    return sum(each.width for each in columns) + len(_GAP) * (len(columns) - 1)


def _title(found: Sequence[Series]) -> str:
    """Return what all points have in common."""
    first = found[0].spec
    parts = [first.target]
    if len({each.spec.users for each in found}) == 1:
        parts.append(first.clients)
    if first.stages is not None:
        parts.append(first.stages.name)
    elif first.rate is not None and len({each.spec.rate for each in found}) == 1:
        parts.append(f"{format_rate(first.rate)}/s asked for")
    measured = format_duration(first.measure_s)
    seconds = [result.seconds for each in found for result in each.results]
    if min(seconds) > LONGER * first.measure_s:
        measured = f"{min(seconds):.0f}s"
    if max(seconds) > LONGER * min(seconds):
        measured += f" to {max(seconds):.0f}s"
    return ", ".join([*parts, f"{format_duration(first.warmup_s)} warm-up, {measured} measured"])


def _columns(found: Sequence[Series]) -> list[_Column]:
    specs = [each.spec for each in found]
    columns = [_Column("Operation", [spec.operation for spec in specs], right=False)]
    peopled = any(spec.entries for spec in specs)
    if peopled:
        columns.append(_Column("Size", [format_size(spec.entries) for spec in specs]))
    if len({spec.variant for spec in specs}) > 1:
        hashes = [spec.settings.get("hash", "") for spec in specs]
        columns.append(_Column("Hash", hashes, right=False))
    if not peopled or len({spec.users for spec in specs}) > 1:
        columns.append(_Column("Clients", [f"{spec.users:,}" for spec in specs]))
    columns.append(_Column("Rate/s", [_rate(each) for each in found]))
    if any(each.n > 1 for each in found):
        sure = all(each.n >= least_repeats() for each in found)
        title = "95% interval" if sure else "least..most"
        columns.append(_Column(title, [around(each, rate_of, format_rate) for each in found]))
    columns += [_Column(name, _latencies(found, name)) for name in ("p50", "p95", "p99")]
    columns.append(_Column("Fails", [f"{each.failures:,}" for each in found]))
    columns.append(_Column("Limit", [_limit(each) for each in found], right=False))
    return columns


def _rate(each: Series) -> str:
    """Return the rate; of a lower bound, what the target can do at least and at most."""
    if each.grade == Quoted.AT_LEAST and each.at_most is not None:
        return f"{format_rate(each.median(rate_of) or 0.0)}..{format_rate(each.at_most)}"
    return rate_mark(each)


def _latencies(found: Sequence[Series], name: str) -> list[str]:
    cells = [latency_mark(each, name) for each in found]
    marked = any(cell.endswith("*") for cell in cells)
    return [f"{cell}  " if marked and not cell.endswith("*") else cell for cell in cells]


def _limit(each: Series) -> str | Cell:
    if each.part:
        return ""
    cell = limit(each)
    return cell if each.usable else Cell(f"{cell.text} (not usable)", cell.mark)


def _notes(found: Sequence[Series]) -> list[str]:
    """Explain the marks that the table has, and no others."""
    marks = []
    if any(each.grade == Quoted.AT_LEAST and each.at_most is not None for each in found):
        marks.append("a..b: the true rate is between a and b")
    if any(result.verdict.latency_at_most for each in found for result in each.results):
        marks.append("<=: waits for other programs are in it")
    grades = {each.grade for each in found}
    lower = {r.verdict.bound for each in found for r in each.results if r.verdict.grade == _LOWER}
    why = [words for bound, words in _TOO_HIGH.items() if bound in lower and _LOWER in grades]
    why += ["not usable"] * (Quoted.NOT_USABLE in grades)
    if why:
        marks.append(f"*: {', or '.join(why)}")
    notes = [f"{'; '.join(marks)}."] if marks else []
    most, least = max(each.n for each in found), min(each.n for each in found)
    if most > 1:
        needed = f"; a 95% interval needs {least_repeats()}" if least < least_repeats() else ""
        notes.append(f"Medians over {most} repeats{needed}.")
    for each in found:
        if not each.part:
            notes += _arrived(each.results[-1])
    if thinking := sum(_thinking(each) for each in found if not each.part):
        what = "operation was" if thinking == 1 else "operations were"
        notes.append(
            f"{thinking:,} {what} in a think time of {'its' if thinking == 1 else 'their'} own "
            "when the test ended: left out."
        )
    return notes


def _thinking(each: Series) -> int:
    return sum(int(result.counters.get(THINKING) or 0) for result in each.results)


def _arrived(result: PointResult) -> list[str]:
    """Return the rate of arrivals beside that of a step which each of them counts several times."""
    if result.spec.rate is None:
        return []
    whole = {each.program: each for each in result.steps if each.step == SEQUENCE}
    return [
        f"{each.program}: {format_rate(arrived.per_s)}/s arrived, with {format_rate(each.per_s)}/s "
        f"of its step {each.step} in all."
        for each in result.steps
        if each.counted
        and each.step != SEQUENCE
        and (arrived := whole.get(each.program)) is not None
        and each.per_s > _SEVERAL * arrived.per_s > 0
    ]
