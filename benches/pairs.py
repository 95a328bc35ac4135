"""Ratios of two sides that are open at the same time and measured in turns.

Rates of a shared machine drift by 20 to 40 % within minutes, so a ratio of medians of separate runs
cannot tell 0.80 from 0.85. Here both sides are open, and slices of 0.4 s alternate: A B B A or
B A A B, drawn by a fixed seed. The n-th slices of both sides are a pair.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benches.ratios import Outcome, Row, mean_ratio, rows_of
from benches.sides import Slice
from sitebench.errors import BadInput, ProgramMissing
from sitebench.system.child import Child
from sitebench.tables.table import Table

SLICE_S = 0.4
FIGURES = {
    "rate": "Rate",
    "client_us": "Load generator's CPU",
    "server_us": "Server's CPU",
    "p50_us": "p50",
    "p99_us": "p99",
}
OWN_SIDES = (
    *("lookup", "add", "connect", "page", "page-memory"),
    *("files", "files-nginx", "csv-search"),
)
"""Sides that can be compared between two builds."""

ROWS = rows_of("pairs")


class Pairs(NamedTuple):
    """Slices of two sides; the n-th slices of both sides are a pair."""

    first: Sequence[Slice]
    second: Sequence[Slice]

    def ratios(self, figure: str) -> list[float]:
        """Return the ratios of a figure that both sides have."""
        pairs = zip(self.first, self.second, strict=True)
        return [first[figure] / second[figure] for first, second in pairs if figure in second]


@contextlib.contextmanager
def stopped_side(name: str, build: Path | None = None) -> Iterator[Callable[[], Slice]]:
    """Open a side, of another checkout if given; its process runs only during its slices."""
    before = ("env", f"PYTHONPATH={build}") if build else ()
    request = {"side": name, "seconds": SLICE_S}
    child = Child("benches.sides", request, timeout_s=120.0, before=before)

    def measure() -> Slice:
        os.kill(child.pid, signal.SIGCONT)
        try:
            return child.ask()
        finally:
            os.kill(child.pid, signal.SIGSTOP)

    try:
        os.kill(child.pid, signal.SIGSTOP)
        yield measure
    finally:
        os.kill(child.pid, signal.SIGCONT)
        child.stop()


def order_of(pairs: int, seed: int = 1997) -> list[bool]:
    """Return the order of slices (True: the first side), in blocks of ABBA or BAAB."""
    draw = random.Random(seed)
    blocks = [
        draw.choice([(True, False, False, True), (False, True, True, False)])
        for _ in range(-(-pairs // 2))
    ]
    return [turn for block in blocks for turn in block][: 2 * pairs]


def measure_in_turns(first: Callable[[], Slice], second: Callable[[], Slice], pairs: int) -> Pairs:
    slices: tuple[list[Slice], list[Slice]] = ([], [])
    for turn in order_of(pairs):
        slices[0 if turn else 1].append(first() if turn else second())
    return Pairs(*slices)


def measure_rows(
    rows: Sequence[Row], pairs: int, progress: Callable[[str], object]
) -> tuple[list[Outcome], dict[str, Pairs]]:
    """Measure each pair of sides of the rows once; return the outcomes and all pairs."""
    measured: dict[str, Pairs] = {}
    missing: dict[str, str] = {}
    outcomes = []
    for row in rows:
        (first, figure), (second, _) = row.value.split("."), row.reference.split(".")
        title = f"{first} / {second}"
        if title not in measured and title not in missing:
            progress(title)
            try:
                with stopped_side(first) as one, stopped_side(second) as other:
                    measured[title] = measure_in_turns(one, other, pairs)
            except ProgramMissing as error:
                missing[title] = error.message
        slices = measured.get(title, Pairs((), ()))
        values, references = ([one[figure] for one in side] for side in slices)
        outcomes.append(Outcome(row, values, references, missing.get(title, ""), paired=True))
    return outcomes, measured


def measure_against(
    build: Path, rows: Sequence[Row], pairs: int, progress: Callable[[str], object]
) -> dict[str, Pairs]:
    """Compare a side with itself, then the sides of the rows with those of another checkout."""
    if not (build / "benches/sides.py").is_file():
        raise BadInput(
            f"{build} is no checkout with benches/sides.py",
            "make one: git worktree add FOLDER REVISION && make -C FOLDER build",
        )
    names = [name for name in OWN_SIDES if any(name in row.trials for row in rows)]
    if not names:
        sides = ", ".join(row.key for row in ROWS if row.trials & set(OWN_SIDES))
        raise BadInput(
            "these rows have no side of this build", f"--against compares some of {sides}"
        )
    measured = {}
    for name, other_build in [(names[0], None), *((name, build) for name in names)]:
        title = f"{name} / {'itself' if other_build is None else name}"
        progress(title)
        with stopped_side(name) as one, stopped_side(name, other_build) as other:
            measured[title] = measure_in_turns(one, other, pairs)
    return measured


def figures_table(measured: Mapping[str, Pairs], pairs: int) -> Table:
    """Format the ratio of every figure of each pair of sides."""
    rows = [
        [title, *(_interval(slices.ratios(figure)) for figure in FIGURES)]
        for title, slices in measured.items()
    ]
    title = f"Geometric means of {pairs} pairs, with 95 % intervals"
    return Table(title, ("Sides", *FIGURES.values()), rows)


def _interval(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    mean, low, high = mean_ratio(ratios)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"
