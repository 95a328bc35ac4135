"""1997's inputs and answers, as the paper's workbook prints them.

"Performance Analysis and Capacity Planning for Microsoft Site Server on Compaq ProLiant Servers",
Compaq, September 1997: Appendix A (pages 22 to 24), and Tables 13 and 14 for the site's rates at
other sizes. The workbook's Add row for the ProLiant 2500 is not that of the paper's Table 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitebench.plan.model import Scenario
from sitebench.plan.rates import PAGES, RateTable

ACTIVE, SESSION_S, VIEW_S = 0.04, 1_200.0, 25.0
MIX = {"connect": 1.0, "add": 1.0, "lookup": 6.0}

ILS = {
    "paper-2500": RateTable(
        "ProLiant 2500 (1997)",
        (500, 1_000, 5_000, 10_000),
        {
            "connect": (503.0, 500.0, 449.0, 462.0),
            "add": (846.0, 864.0, 857.0, 840.0),
            "lookup": (935.0, 921.0, 905.0, 900.0),
        },
    ),
    "paper-7000": RateTable(
        "ProLiant 7000 (1997)",
        (500, 1_000, 5_000, 10_000),
        {
            "connect": (787.0, 757.0, 806.0, 783.0),
            "add": (1276.0, 1360.0, 1328.0, 941.0),
            "lookup": (1539.0, 1532.0, 1512.0, 1485.0),
        },
    ),
}
PS = {
    "paper-2500": RateTable(
        "ProLiant 2500 (1997)",
        (1_000, 10_000, 100_000, 1_000_000),
        {PAGES: (49.6, 43.5, 37.2, 32.1)},
    ),
    "paper-7000": RateTable(
        "ProLiant 7000 (1997)",
        (1_000, 10_000, 100_000, 1_000_000),
        {PAGES: (63.0, 57.3, 51.8, 47.1)},
    ),
}
SIZE = 10_000
"""The size whose rates the workbook gives as its example (43.5 and 57.3 pages/s), and the largest
directory; for the directory it does not say which column it takes."""


@dataclass(frozen=True)
class Printed:
    """What the workbook prints for its own inputs."""

    preset: str
    simultaneous: int
    community: int


ILS_PRINTED = (Printed("paper-2500", 3_946, 98_639), Printed("paper-7000", 7_842, 196_052))
PS_PRINTED = (Printed("paper-2500", 1_088, 27_188),)

UNPRINTED = {"paper-2500": (3.4, 10_000), "paper-7000": (6.8, 5_000)}
"""What would explain the directory's printed answers: an operation that the paper does not print,
once per session, at so many per second, with the printed rates of this size. Inferred from the
answers, not read anywhere; docs/planner.md has the reasons. No plan uses it."""

ILS_SCENARIO = Scenario(ACTIVE, SESSION_S, MIX)
PS_SCENARIO = Scenario(ACTIVE, VIEW_S)


def of(half: str) -> tuple[dict[str, RateTable], Scenario]:
    """Return the machines and the scenario of one half."""
    return (PS, PS_SCENARIO) if half == "ps" else (ILS, ILS_SCENARIO)
