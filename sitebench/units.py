"""Sizes and durations as people write them: `10k`, `1,000`, `500ms`, `10m`.

The suffix of a size is decimal: k = 1,000 and m = 1,000,000. In a duration `m` means minutes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from sitebench.errors import UnknownValue

_SIZE = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s*([km]?)", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h)?", re.IGNORECASE)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000}
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?) *(.*)")
BYTES = {
    unit + more: 1 << power
    for unit, power in {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}.items()
    for more in (("", "b", "ib") if unit else ("",))
}
"""Units of memory in bytes: k, kb and kib are the same power of two."""
_SIZE_REMEDY = "write a number such as 500, 1,000, 10k or 1m"
_SIZES_REMEDY = "write sizes such as 500,1000,10k or 1m, without a comma in any"
_DURATION_REMEDY = "write a number and a unit, such as 500ms, 2s, 10m or 1h"
_RATE_REMEDY = "write operations/s, such as 500 or 20k"


def parse_size(text: str) -> int:
    """Read a whole number of at least 1, with an optional k or m."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UnknownValue(f"unknown size {text!r}", _SIZE_REMEDY)
    exact = Decimal(match[1].replace(",", "")) * _SCALES[match[2].lower()]
    if exact != exact.to_integral_value() or exact < 1:
        raise UnknownValue(f"size {text!r} is not a whole number above zero", _SIZE_REMEDY)
    return int(exact)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read sizes separated by commas; here a comma never groups digits."""
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise UnknownValue(f"{text!r} has an empty size", _SIZES_REMEDY)
    if any(len(part) > 1 and part.startswith("0") and part.isdigit() for part in parts):
        raise UnknownValue(f"commas separate the sizes of {text!r}", _SIZES_REMEDY)
    return tuple(parse_size(part) for part in parts)


def format_size(size: int) -> str:
    """Write a size as `parse_size` reads it, in the shortest exact form."""
    for suffix, scale in (("m", 1_000_000), ("k", 1_000)):
        if size >= scale and size % (scale // 10) == 0:
            return f"{size / scale:.15g}{suffix}"
    return f"{size:,}"


def format_people(size: int, unit: str) -> str:
    """Write the number of people of a target, or `any size` for a test without people."""
    return f"{format_size(size)} {unit}" if size else "any size"


def parse_in(text: str, scales: Mapping[str, int]) -> float | None:
    """Read a number above zero and a unit; None for another text."""
    match = _NUMBER.fullmatch(text.strip().lower())
    if match is None or match[2] not in scales:
        return None
    return float(match[1]) * scales[match[2]] or None


_LONGEST_S = 366 * 86_400
"""The longest duration, in scenario files too."""


def parse_duration(text: str) -> float:
    """Read seconds; a bare number means seconds."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UnknownValue(f"unknown duration {text!r}", _DURATION_REMEDY)
    # With Decimal, 71ms is the same number as 0.071s.
    seconds = Decimal(match[1]) * Decimal(str(_SECONDS[(match[2] or "s").lower()]))
    if seconds > _LONGEST_S:
        raise UnknownValue(f"{text.strip()!r} is longer than a year", "write a shorter time")
    return float(seconds)


def format_duration(seconds: float) -> str:
    """Write a duration as `parse_duration` reads it."""
    if seconds == 0:
        return "0s"
    for unit in ("h", "m", "s", "ms"):
        amount = seconds / _SECONDS[unit]
        if amount >= 1 and math.isclose(amount, round(amount), rel_tol=1e-9):
            return f"{round(amount)}{unit}"
    if seconds >= 1:
        return f"{seconds:.12g}s"
    return f"{seconds * 1e6:.12g}us"


def parse_percent(text: str) -> float:
    """Read a share written as a percentage: 4% is 0.04. A bare 4 is refused as ambiguous."""
    match = _PERCENT.fullmatch(text.strip())
    if match is None:
        raise UnknownValue(f"unknown share {text!r}", "write a percentage, such as 4%")
    return float(Decimal(match[1]) / 100)


def format_clock(seconds: float) -> str:
    """Write a time since the start as 1:30, or 1:01:30."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def format_percent(share: float) -> str:
    """Write a share as `parse_percent` reads it."""
    return f"{share * 100:.12g}%"


def parse_rate(text: str) -> float:
    """Read operations per second: a number above zero, with k or m, and with or without `/s`."""
    bare = text.strip().removesuffix("/s")
    try:
        rate = float(bare)
    except ValueError:
        try:
            rate = float(parse_size(bare))
        except UnknownValue:
            raise UnknownValue(f"unknown rate {text!r}", _RATE_REMEDY) from None
    if not rate > 0 or math.isinf(rate):
        raise UnknownValue(f"rate {text!r} is not above zero", _RATE_REMEDY)
    return rate


def format_rate(per_second: float) -> str:
    """Write operations per second for a table: at least three digits, thousands separated."""
    return f"{per_second:,.0f}" if per_second >= 100 else f"{per_second:,.3g}"


def format_bytes(amount: float) -> str:
    """Write bytes with decimal prefixes, as the paper's tables do."""
    for suffix, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if amount >= scale:
            return f"{amount / scale:{'.3g' if amount < 100 * scale else ',.0f'}} {suffix}"
    return f"{amount:.0f} B"


def format_ns(ns: float) -> str:
    """Write a latency with the unit that keeps it between 1 and 1,000."""
    for suffix, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {suffix}"
    return f"{ns:.0f} ns"


def format_interval(low: float, high: float | None, show: Callable[[float], str]) -> str:
    """Write `1.19..1.34 ms`, or without an upper end the lower bound `>= 1.19 ms`."""
    if high is None:
        return f">= {show(low)}"
    lower, upper = show(low), show(high)
    _, space, unit = upper.partition(" ")
    return f"{lower.removesuffix(space + unit)}..{upper}"


def plural(n: float, thing: str, things: str | None = None) -> str:
    """Write a count with its noun: `1 client`, `2 people`, `2.5 cores`."""
    number = f"{n:,.0f}" if n == round(n) else f"{n:.3g}"
    return f"{number} {thing if n == 1 else things or thing + 's'}"
