"""The Universal Scalability Law: the rate of a client, and the cost of sharing and of coherency.

    X(N) = L N / (1 + A (N - 1) + B N (N - 1))

L is the rate of one client, A the share of its work that the others must wait for (contention), B
the cost of keeping every pair of clients consistent (coherency). After N. J. Gunther, "Guerrilla
Capacity Planning", 2007. Divided into N the law is linear in 1/L, A/L and B/L:

    N / X = 1/L + A/L (N - 1) + B/L N (N - 1)

so least squares of that line, each point weighted by X/N (all are as wrong relative to their own
size), gives the parameters without iteration; none of them is negative.

Limitations: the law is not a queueing model of the target. It is applied up to twice the largest
measured load, and refused beyond (method, rule 11).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Any

from sitebench.errors import BeyondMeasured
from sitebench.frozen import frozen

_LEAST_LOADS = 4
"""Three parameters fit any three points exactly; a misfit shows with four."""

_FURTHEST = 2
"""The law is applied up to this multiple of the largest measured load (method, rule 11)."""

_Column = tuple[float, ...]


@frozen
class Usl:
    """A fitted law, how well it fits, and up to where it was measured."""

    per_client: float
    contention: float
    coherency: float
    measured_clients: int
    r_squared: float
    worst_error: float
    """The largest distance of a measured rate from the law's, as a share of the measured."""

    def at(self, clients: int) -> float:
        """Return the expected rate; refuses loads too far beyond the measured ones."""
        check_reach(clients, self.measured_clients)
        return self._rate(clients)

    def _rate(self, n: float) -> float:
        waiting = self.contention * (n - 1) + self.coherency * n * (n - 1)
        return self.per_client * n / (1 + waiting)

    @property
    def best_clients(self) -> int | None:
        """The load of the highest rate; None if the rate never falls, or too far beyond."""
        if self.coherency <= 0 or self.contention >= 1:
            return None
        best = round(math.sqrt((1 - self.contention) / self.coherency))
        return best if 1 <= best <= _FURTHEST * self.measured_clients else None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"best_clients": self.best_clients}


def check_reach(clients: int, measured: int) -> None:
    """Raise when a load is too far beyond the largest measured one."""
    if clients > _FURTHEST * measured:
        raise BeyondMeasured(
            f"{clients:,} clients are too many for the fitted law: the largest measured load is "
            f"{measured:,}, and it is applied up to twice that",
            f"measure {math.ceil(clients / _FURTHEST):,} clients or more",
        )


def fit(points: Sequence[tuple[int, float]]) -> Usl | None:
    """Fit the law to (clients, rate); None where there are too few loads, or no law fits."""
    found = [(n, x) for n, x in points if x > 0]
    if len({n for n, _ in found}) < _LEAST_LOADS:
        return None
    target = tuple(1.0 for _ in found)  # (N / X) / (N / X)
    columns: tuple[_Column, _Column, _Column] = (
        tuple(x / n for n, x in found),
        tuple(x / n * (n - 1) for n, x in found),
        tuple(x / n * n * (n - 1) for n, x in found),
    )
    best = min(_solutions(columns, target), default=None)
    if best is None:
        return None
    _, (a, b, c) = best
    law = Usl(1 / a, b / a, c / a, max(n for n, _ in found), 0.0, 0.0)
    mean = sum(x for _, x in found) / len(found)
    missed = sum((x - law._rate(n)) ** 2 for n, x in found)
    total = sum((x - mean) ** 2 for _, x in found)
    worst = max(abs(law._rate(n) / x - 1) for n, x in found)
    return replace(law, r_squared=1 - missed / total if total else 1.0, worst_error=worst)


def _solutions(
    columns: tuple[_Column, _Column, _Column], target: _Column
) -> Iterator[tuple[float, tuple[float, float, float]]]:
    """Yield the least squares with each choice of A and B free or zero, where none is negative."""
    for with_b, with_c in product((True, False), repeat=2):
        used = [0, *([1] if with_b else []), *([2] if with_c else [])]
        solved = _least_squares([columns[i] for i in used], target)
        if solved is None:
            continue
        full = [0.0, 0.0, 0.0]
        for i, value in zip(used, solved, strict=True):
            full[i] = value
        if full[0] > 0 and min(full) >= 0:
            missed = sum(
                (t - sum(p * column[i] for p, column in zip(full, columns, strict=True))) ** 2
                for i, t in enumerate(target)
            )
            yield missed, (full[0], full[1], full[2])


def _least_squares(columns: Sequence[_Column], target: _Column) -> list[float] | None:
    """Solve the normal equations by elimination; None where columns depend on each other."""
    # Columns differ by four orders of magnitude: scaled to length 1 nothing is lost.
    lengths = [math.sqrt(_dot(column, column)) for column in columns]
    if not all(lengths):
        return None
    scaled = [
        tuple(value / length for value in column)
        for column, length in zip(columns, lengths, strict=True)
    ]
    rows = [[_dot(a, b) for b in scaled] + [_dot(a, target)] for a in scaled]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if abs(rows[i][i]) < 1e-12:
            return None
        for r in range(size):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [v - factor * w for v, w in zip(rows[r], rows[i], strict=True)]
    return [rows[i][size] / rows[i][i] / lengths[i] for i in range(size)]


def _dot(a: _Column, b: _Column) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
