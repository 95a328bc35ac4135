"""The inputs that a reader changes, on the page and in the workbook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from sitebench.plan.model import MOST_CORES, Scenario


class Entry(msgspec.Struct, frozen=True):
    """An input with its label, its value and its bounds."""

    key: str
    label: str
    value: float
    low: float
    high: float
    is_share: bool = False


CONVERTED = {"session_min": ("session_s", 60, 1), "objective_ms": ("objective_s", 1, 1_000)}
"""The law's input by the entry that a user types, with the factor and the divisor of its unit."""


def entries(
    scenario: Scenario, operations: Sequence[str], queue_limit: float = 1.0
) -> Iterator[Entry]:
    label = "Share of the whole community active at once"
    yield Entry("active", label, scenario.active, 1e-5, 1, is_share=True)
    if scenario.mix is None:
        yield Entry("view_s", "Seconds a visitor looks at a page", scenario.stay_s, 1e-3, 1e9)
    else:
        yield Entry("session_min", "Minutes of a user's session", scenario.stay_s / 60, 1e-3, 1e9)
        for name in operations:
            number = float(scenario.mix.get(name, 0.0))
            yield Entry(f"n_{name}", f"Number of {name} per session", number, 0, 1e6)
    label = "Headroom: share of a machine to leave free"
    yield Entry("headroom", label, scenario.headroom, 0, 0.999, is_share=True)
    label = "Arrivals in the busiest minutes, of the average"
    yield Entry("burst", label, scenario.burst, 1, 1e4, is_share=True)
    if scenario.mix is None:
        _, within_s = scenario.objective or (0.0, 0.0)
        label = "Response-time objective in ms (0: none)"
        yield Entry("objective_ms", label, within_s * 1e3, 0, 1e9)
        cores = float(scenario.cores)
        yield Entry("cores", "Cores of a machine, for the objective", cores, 1, MOST_CORES)
    else:
        label = "How busy a machine may be for an objective"
        yield Entry("queue_limit", label, queue_limit, 1e-3, 1, is_share=True)
    yield Entry("community", "Community to serve", float(scenario.community or 1e6), 1, 1e12)
