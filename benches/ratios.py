"""Ratios within one run, as `make bench` measures them.

A trial measures once and names its values. Every repeat runs every trial (A B C, A B C,
...), so that whatever slows the machine for a while slows both sides of a ratio. A row divides
two values repeat by repeat, and holds the median of these ratios against its bound. Rates and CPU
of two servers or two load generators are measured in pairs instead (`benches.pairs`).
"""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sitebench.errors import ProgramMissing
from sitebench.tables.table import Cell, Mark, Table


@dataclass(frozen=True)
class Skipped:
    """The reason why a trial cannot run on this machine."""

    reason: str


Values = Mapping[str, float]


@dataclass(frozen=True)
class Trial:
    """One measurement, by name."""

    name: str
    run: Callable[[], Values | Skipped]


@dataclass(frozen=True)
class Row:
    """A ratio of two values, with its bound.

    `at_least` or `at_most` is the bound; the aim is a stricter bound.
    """

    key: str
    what: str
    against: str
    value: str
    reference: str
    aim: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def trials(self) -> set[str]:
        """Names of the trials that the row needs."""
        return {self.value.partition(".")[0], self.reference.partition(".")[0]}

    def passes(self, ratio: float, bound: float | None = None) -> bool:
        """Whether a ratio satisfies the bound, or another bound on the same side."""
        if self.at_least is not None:
            return ratio >= (self.at_least if bound is None else bound)
        return self.at_most is None or ratio <= (self.at_most if bound is None else bound)


_BOUNDS = {">=": "at_least", "<=": "at_most"}
_ROWS: dict[str, dict[str, list[Any]]] = tomllib.loads(
    (Path(__file__).parent / "rows.toml").read_text()
)


def rows_of(module: str) -> tuple[Row, ...]:
    """Return the rows of a module's table in `rows.toml`."""
    rows = []
    for key, (what, against, value, reference, aim, bound) in _ROWS[module].items():
        side, limit = bound.split()
        limits: dict[str, Any] = {_BOUNDS[side]: float(limit)}
        rows.append(Row(key, what, against, value, reference, aim, **limits))
    return tuple(rows)


@dataclass(frozen=True)
class Outcome:
    """A row's values, repeat by repeat, or the reason for their absence."""

    row: Row
    values: Sequence[float] = ()
    references: Sequence[float] = ()
    reason: str = ""
    paired: bool = False
    """Whether both sides were open at the same time and measured in turns (`benches.pairs`)."""

    @property
    def ratios(self) -> list[float]:
        """Ratios repeat by repeat, so that a drift affects both sides of each ratio."""
        pairs = zip(self.values, self.references, strict=False)
        return [value / reference for value, reference in pairs if reference]

    @property
    def ratio(self) -> float | None:
        """The median of the ratios; for pairs, their geometric mean."""
        return mean_ratio(self.ratios)[0] if self.paired and self.ratios else _median(self.ratios)

    @property
    def interval(self) -> tuple[float, float] | None:
        """For pairs the 95 % interval, otherwise the lowest and the highest ratio.

        For 5 repeats the latter is a 94 % interval of the median.
        """
        if self.paired and self.ratios:
            return mean_ratio(self.ratios)[1:]
        return (min(self.ratios), max(self.ratios)) if self.ratios else None

    @property
    def state(self) -> str:
        """One of aim, pass, unsure, FAIL and n/a.

        Unsure: only one end of the interval satisfies the bound; for repeats without pairs, the
        median does not and one repeat does.
        """
        if self.ratio is None or self.interval is None:
            return "n/a"
        ends = [self.row.passes(end) for end in self.interval]
        if not any(ends):
            return "FAIL"
        if not (all(ends) if self.paired else self.row.passes(self.ratio)):
            return "unsure"
        return "aim" if self.row.passes(self.ratio, self.row.aim) else "pass"

    def to_json(self) -> dict[str, Any]:
        row = self.row
        return {
            "row": row.key,
            "what": row.what,
            "against": row.against,
            "value": _median(self.values),
            "reference": _median(self.references),
            "ratio": self.ratio,
            "interval": self.interval,
            "at_least": row.at_least,
            "at_most": row.at_most,
            "aim": row.aim,
            "state": self.state,
            "reason": self.reason,
        }


@dataclass
class Series:
    """Every value of every repeat, by name."""

    values: dict[str, list[float]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def median(self, name: str) -> float | None:
        return _median(self.values.get(name, []))


def mean_ratio(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its 95 % interval by Student's t."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    reach = student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def student_t(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, within 0.1 % from 6 degrees of freedom on.

    Abramowitz and Stegun, 26.7.5.
    """
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def run_trials(
    trials: Sequence[Trial], repeats: int, progress: Callable[[str], object] = lambda text: None
) -> Series:
    """Run every trial `repeats` times, interleaved."""
    series = Series()
    for n in range(repeats):
        for trial in trials:
            if trial.name in series.skipped:
                continue
            progress(f"{trial.name} ({n + 1} of {repeats})")
            try:
                found = trial.run()
            except ProgramMissing as error:
                found = Skipped(error.message)
            if isinstance(found, Skipped):
                series.skipped[trial.name] = found.reason
                continue
            for name, value in found.items():
                series.values.setdefault(f"{trial.name}.{name}", []).append(value)
    return series


def judge(rows: Sequence[Row], series: Series) -> list[Outcome]:
    """Compare every row with its bound."""
    outcomes = []
    for row in rows:
        missing = sorted(row.trials & series.skipped.keys())
        reason = "; ".join(series.skipped[name] for name in missing)
        values, references = (series.values.get(name, []) for name in (row.value, row.reference))
        outcomes.append(Outcome(row, values, references, reason))
    return outcomes


_MARKS = {"aim": Mark.PASS, "pass": Mark.PASS, "FAIL": Mark.FAIL}
"""Marks of states; the mark of all other states is POSSIBLE."""


def tables(outcomes: Sequence[Outcome], title: str) -> list[Table]:
    """Format the ratios, and below them a description of each row."""
    rows: list[list[str | Cell]] = []
    legend = []
    for outcome in outcomes:
        row = outcome.row
        sign, bound = (">=", row.at_least) if row.at_least is not None else ("<=", row.at_most)
        rows.append(
            [
                row.key,
                _figure(_median(outcome.values)),
                _figure(_median(outcome.references)),
                _figure(outcome.ratio),
                " to ".join(map(_figure, outcome.interval or ())),
                f"{sign} {bound:.3g}",
                f"{row.aim:.3g}",
                Cell(outcome.state, _MARKS.get(outcome.state, Mark.POSSIBLE)),
            ]
        )
        reason = f" ({outcome.reason})" if outcome.reason else ""
        legend.append([row.key, f"{row.what}, against {row.against}{reason}"])
    columns = ("Row", "value", "reference", "ratio", "interval", "bound", "aim", "")
    return [Table(title, columns, rows), Table("", ("Row", "What, against what"), legend, left=2)]


def _figure(value: float | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
