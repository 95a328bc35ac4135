"""What a machine can do: operations per second by operation and by number of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitebench.errors import UnknownValue
from sitebench.units import format_size

PAGES = "pages"
"""What people who look at pages are counted in (Table 13's "Web pages requested")."""

UNSTATED = 0
"""The size of rates that were typed in: nobody said with how many people they were measured."""


@dataclass(frozen=True)
class Remark:
    """What is to be said of one rate: why it is missing, or what it leaves open."""

    operation: str
    size: int
    said: str

    def __str__(self) -> str:
        return f"{self.operation} at {format_size(self.size)}: {self.said}"


@dataclass(frozen=True)
class RateTable:
    """One machine: its rate for each operation, one per size; None was not measured."""

    machine: str
    sizes: tuple[int, ...]
    rates: Mapping[str, tuple[float | None, ...]]
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def typed_in(cls, rates: Mapping[str, float]) -> RateTable:
        """Return a table of rates that somebody knows from elsewhere."""
        return cls("typed in", (UNSTATED,), {name: (rate,) for name, rate in rates.items()})

    def at(self, size: int) -> dict[str, float]:
        """Return the rates that there are at this size."""
        if size not in self.sizes:
            known = ", ".join(format_size(each) for each in self.sizes if each != UNSTATED)
            raise UnknownValue(
                f"{self.machine} has no rates at {format_size(size)} people",
                f"use one of {known}, or measure it" if known else "leave --size out",
            )
        column = self.sizes.index(size)
        found = {name: row[column] for name, row in self.rates.items()}
        return {name: rate for name, rate in found.items() if rate is not None}
