"""`--stages 30s:100,1m:500`: a load that rises and falls, such as on a Monday morning.

A stage has a length, and a rate at its end in operations a second. Within a stage the rate changes
linearly, from the rate at the end of the stage before, or from 0 (k6's stages of arrivals). The
engine computes when operations are due (`native/tester/load/src/choose/schedule.rs`).

With `30s:100 users`, `locust/role_local.py` starts and stops users.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import msgspec

from sitebench import units
from sitebench.errors import BadFile, UnknownValue
from sitebench.options.option import sendable
from sitebench.system.texts import read_text
from sitebench.units import plural

_EXAMPLE = (
    "write durations with the rates at their ends, such as 30s:100,1m:500, or with users, such "
    "as 30s:100 users"
)
_USERS = re.compile(r"\s*users?$")
_ROW = "write a minute and its rate on each line, such as 0,100 and 1,250"
_TIME_OF_DAY = re.compile(r"\d:\d\d")
_LEAST_S = 0.001
_MOST_S = 86_400.0
"""A day: a table of 1,440 minutes is still readable."""
_MOST_STAGES = 1_500
"""Largest number of stages: more than the minutes of a day, and short enough for an argument."""
_MOST_NAMED = 5
_MINUTE_S = 60.0
WITHIN_MINUTES_S = 180.0
"""The least length with spans of a minute: fewer than three spans are no curve."""
_SHORT_S = (1.0, 2.0, 5.0, 10.0, 20.0)
_MOST_SHORT = 12
"""Largest number of spans of a short test; each span needs operations for a percentile."""


class Stage(msgspec.Struct, frozen=True):
    """A stage: its length, and the rate or the number of users at its end."""

    lasts_s: float
    level: float
    of_users: bool = False

    def __str__(self) -> str:
        unit = " users" if self.of_users else ""
        return f"{units.format_duration(self.lasts_s)}:{self.level:.15g}{unit}"


class Stages(msgspec.Struct, frozen=True):
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.stages))

    @property
    def name(self) -> str:
        if len(self.stages) <= _MOST_NAMED:
            return f"stages {', '.join(map(str, self.stages))}"
        highest = plural(round(self.highest), "user")
        if not self.of_users:
            highest = f"{units.format_rate(self.highest)}/s"
        return f"{plural(len(self.stages), 'stage')}, up to {highest}"

    @classmethod
    def from_option(cls, text: str) -> Stages:
        return _of_file(text[1:]) if text.startswith("@") else cls.parse(text)

    @classmethod
    def parse(cls, text: str) -> Stages:
        parts = [part.strip() for part in text.split(",")]
        return _check(f"stages {text[:60]!r}", map(_stage, parts))

    @property
    def lasts_s(self) -> float:
        return math.fsum(stage.lasts_s for stage in self.stages)

    @property
    def of_users(self) -> bool:
        """Whether the stages have numbers of users instead of rates."""
        return self.stages[0].of_users

    @property
    def mean(self) -> float:
        return self.due(self.lasts_s) / self.lasts_s

    @property
    def highest(self) -> float:
        return max(stage.level for stage in self.stages)

    def users_at(self, at_s: float) -> int:
        """Return the number of users, at least 1, because a test begins with a user."""
        begin_s = level = 0.0
        for stage in self.stages:
            if at_s < begin_s + stage.lasts_s:
                level += (stage.level - level) * (at_s - begin_s) / stage.lasts_s
                break
            begin_s, level = begin_s + stage.lasts_s, stage.level
        return max(1, round(level))

    @property
    def span_s(self) -> float:
        """The length of a span: a minute, but less in a short test."""
        lasts_s = self.lasts_s
        if lasts_s >= WITHIN_MINUTES_S:
            return _MINUTE_S
        return next(width for width in _SHORT_S if lasts_s <= _MOST_SHORT * width)

    def due(self, upto_s: float) -> float:
        """Return the mean number of operations due up to a time; for users, the user-seconds."""
        due = begin_s = level = 0.0
        for stage in self.stages:
            lasts_s = min(stage.lasts_s, max(0.0, upto_s - begin_s))
            due += lasts_s * (level + (stage.level - level) * lasts_s / stage.lasts_s / 2)
            begin_s, level = begin_s + stage.lasts_s, stage.level
        return due

    @property
    def edges(self) -> Iterator[tuple[float, float]]:
        """Yield the ends of the load's linear parts: seconds, and the rate or users then."""
        begin_s = 0.0
        yield 0.0, 0.0
        for stage in self.stages:
            begin_s += stage.lasts_s
            yield begin_s, stage.level

    def spans(self, ended_s: float = math.inf) -> Iterator[tuple[float, float]]:
        """Yield begin and end of each span in seconds; the last span is up to 1.5 times as long.

        `ended_s` is the end of a test that ended before its stages.
        """
        lasts_s, span_s = min(self.lasts_s, ended_s), self.span_s
        last = max(0, round(lasts_s / span_s) - 1)
        for number in range(last + 1):
            yield number * span_s, lasts_s if number == last else (number + 1) * span_s


def _stage(text: str) -> Stage:
    lasts, colon, level = text.partition(":")
    if not colon:
        raise UnknownValue(f"{text!r} is no stage", _EXAMPLE)
    if (bare := _USERS.sub("", level)) != level:
        return Stage(_length(lasts, text), _users(bare, text), of_users=True)
    return Stage(_length(lasts, text), _rate(level, text))


@contextmanager
def _naming(stage: str, hint: str = "") -> Iterator[None]:
    """Name the stage in errors about its values."""
    try:
        yield
    except UnknownValue as error:
        raise UnknownValue(f"stage {stage!r}: {error.message}", error.remedy + hint) from None


def _length(text: str, stage: str) -> float:
    with _naming(stage):
        lasts_s = units.parse_duration(text)
    if lasts_s < _LEAST_S:
        remedy = "give it a time, 1ms for a jump of the rate"
        raise UnknownValue(f"stage {stage!r} is shorter than 1 ms", remedy)
    return lasts_s


def _rate(text: str, stage: str) -> float:
    bare = text.strip().removesuffix("/s")
    if not bare.strip("0.") and "0" in bare:
        return 0.0
    with _naming(stage, "; 0 is allowed, too"):
        return sendable(bare)


def _users(text: str, stage: str) -> int:
    if text.strip() == "0":
        return 0
    with _naming(stage):
        return units.parse_size(text)


def _check(source: str, parts: Iterable[Stage]) -> Stages:
    stages = Stages(tuple(parts))
    if len(stages.stages) > _MOST_STAGES:
        excess = f"{source}: {len(stages.stages):,} stages are too many"
        raise UnknownValue(excess, f"give at most {_MOST_STAGES:,}")
    if len({stage.of_users for stage in stages.stages}) > 1:
        raise UnknownValue(
            f"{source}: rates and users", "write users after every stage, or after none"
        )
    if not stages.highest:
        quantity = "number of users" if stages.of_users else "rate"
        raise UnknownValue(f"{source}: every {quantity} is 0", "ask for something")
    if stages.lasts_s > _MOST_S:
        lasts = f"{stages.lasts_s / 3600:.3g} hours"
        raise UnknownValue(f"{source}: they last {lasts} in all", "measure a day at most")
    return stages


def _of_file(path: str) -> Stages:
    """Read rows of a minute and its rate; without a row of minute 0, the load begins at rate 0."""
    import csv

    text = read_text(path, "the stages", BadFile, f"name a CSV file; {_ROW}")
    # Spreadsheets write a byte order mark, and separators of the locale.
    lines = text.removeprefix("\ufeff").splitlines()
    parted = next((mark for mark in ";,\t" if any(mark in line for line in lines)), ",")
    try:
        rows = [*enumerate(csv.reader(lines, delimiter=parted), 1)]
    except csv.Error as error:
        raise BadFile(f"{path} is no CSV file: {error}", _ROW) from error
    stages: list[Stage] = []
    begin_s, begun = 0.0, False
    for line, row in rows:
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        begun, is_first = True, not begun
        if is_first and not any(map(_number, cells)):
            continue  # The names of the columns.
        place = f"{path}:{line}: {parted.join(row)!r}"
        minute = _number(cells[0])
        if len(cells) != 2 or minute is None or minute < 0:
            remedy = _ROW
            if _TIME_OF_DAY.search(cells[0]):
                remedy += "; count the minutes from the first row, which is minute 0"
            raise BadFile(f"{place} is not a minute and a rate", remedy)
        at_s = minute * 60.0
        if not stages and not at_s:
            at_s = _LEAST_S  # The load begins at this rate, instead of a rise from 0.
        if at_s < begin_s + _LEAST_S:
            raise BadFile(
                f"{place} is not after the minute before", "put the minutes into rising order"
            )
        stages.append(Stage(float(f"{at_s - begin_s:.12g}"), _rate(cells[1], place)))
        begin_s = at_s
    if not stages:
        raise BadFile(f"{path} has no row", _ROW)
    return _check(path, stages)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
