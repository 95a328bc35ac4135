"""A machine's rates: operations per second, by operation and number of people."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from sitebench.errors import UnknownValue
from sitebench.units import format_size

PAGES = "pages"
"""The operation of a site's visitors (Table 13's "Web pages requested")."""

UNSTATED = 0
"""The size of typed-in rates: their number of people is not known."""


class Remark(msgspec.Struct, frozen=True):
    """A note on a rate: why it is missing or uncertain."""

    operation: str
    size: int
    message: str
    remedy: str | None = None
    """How to measure a missing rate."""

    def __str__(self) -> str:
        return f"{self.operation} at {format_size(self.size)}: {self.message}"


class RateTable(msgspec.Struct, frozen=True):
    """A machine's rates by operation, for each of `sizes`; None if not measured."""

    machine: str
    sizes: tuple[int, ...]
    rates: Mapping[str, tuple[float | None, ...]]
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def typed_in(cls, rates: Mapping[str, float]) -> RateTable:
        return cls("typed in", (UNSTATED,), {name: (rate,) for name, rate in rates.items()})

    def rates_at(self, size: int) -> dict[str, float]:
        if size not in self.sizes:
            sizes = ", ".join(format_size(n) for n in self.sizes if n != UNSTATED)
            raise UnknownValue(
                f"{self.machine} has no rates at {format_size(size)} people",
                f"use one of {sizes}, or measure it" if sizes else "leave --size out",
            )
        column = self.sizes.index(size)
        rates = {name: row[column] for name, row in self.rates.items()}
        return {name: rate for name, rate in rates.items() if rate is not None}
