"""Intervals compared with reference values, with every arrangement, and with their stated level.

Reference p values are from scipy 1.17.1 (numpy 2.4.6, Python 3.11.7), which is not needed to run
this: `wilcoxon` with method="exact", and method="asymptotic" (continuity corrected) for many
values. An interval excludes zero exactly if its test's p is at most alpha. The interval of the
textbook sample is the one that Hollander and Wolfe print (1973, pages 29 and 33), as R's
`wilcox.test` gives it.
"""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitebench.compare.statistics import Shift, detectable, least_pairs, pair_shift

# Rates of lookups, two directories, ten windows of one second each.
A = (15089, 14820, 14510, 14782, 14412, 15434, 14528, 16108, 14781, 16154)
B = (14912, 14330, 14332, 14358, 14788, 14460, 14465, 13842, 14682, 14237)
LOGS = [math.log(b / a) for a, b in zip(A, B, strict=True)]

# Hollander and Wolfe: depression before and after.
BEFORE = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
AFTER = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)


def differs(shift: Shift) -> bool:
    return shift.low is not None and shift.high is not None and (shift.low > 0 or shift.high < 0)


apart = st.lists(st.integers(-(10**6), 10**6).map(float), min_size=2, max_size=8, unique=True)


@pytest.mark.parametrize(
    ("differences", "p"),
    [(LOGS, 0.01953125), ([b - a for a, b in zip(BEFORE, AFTER, strict=True)], 0.0390625)],
)
def test_pair_intervals_exclude_zero_at_the_reference_p_values(
    differences: list[float], p: float
) -> None:
    assert differs(pair_shift(differences, p * 1.0001))
    assert not differs(pair_shift(differences, p * 0.9999))


def test_many_values_are_judged_by_the_normal_approximation() -> None:
    # The reference p is 0.00234. numpy.random.default_rng(4), after its first 85: normal(0.2, 1,
    # 70).
    differences = [
        *(1.209, -0.404, 0.047, -1.281, -1.279, -0.578, -0.993, 0.196, -0.503, 1.451, 0.353),
        *(0.365, 1.337, 0.718, 0.163, 0.109, 0.079, 1.277, 0.983, 0.566, 0.999, -0.345, 0.711),
        *(-1.212, 1.547, 0.29, 0.383, 0.799, 0.19, -0.054, 1.39, 0.316, -0.716, 0.64, -1.505),
        *(1.856, 0.029, 0.246, 2.458, 2.352, 0.316, 0.825, 1.29, 1.882, 0.069, 0.335, 1.425),
        *(0.47, 0.954, 0.81, -0.935, -0.659, -2.441, -0.06, 1.539, -0.909, 1.434, 1.2, 0.145),
        *(0.192, 0.283, -0.661, -0.082, 0.153, 0.812, 0.992, -0.543, 1.026, -0.578, 0.031),
    ]
    assert differs(pair_shift(differences, 0.0025))
    assert not differs(pair_shift(differences, 0.0022))


def test_shift_of_textbook_example_matches_the_printed_value() -> None:
    pairs = pair_shift([b - a for a, b in zip(BEFORE, AFTER, strict=True)], 0.05)
    assert (pairs.estimate, pairs.low, pairs.high) == pytest.approx((-0.46, -0.786, -0.010))


def p_of_pairs(differences: list[float]) -> float:
    """Wilcoxon's two-sided p, by counting every choice of signs."""
    rank = {size: n for n, size in enumerate(sorted(map(abs, differences)), 1)}

    def w(signs: tuple[int, ...]) -> int:
        return sum(rank[abs(d)] for d, sign in zip(differences, signs, strict=True) if sign > 0)

    every = [w(signs) for signs in itertools.product((1, -1), repeat=len(differences))]
    found = w(tuple(1 if d > 0 else -1 for d in differences))
    tails = min(sum(x <= found for x in every), sum(x >= found for x in every))
    return min(1.0, 2 * tails / len(every))


@given(apart, st.sampled_from((0.3, 0.1, 0.05, 0.01)))
def test_interval_excludes_zero_if_and_only_if_the_test_rejects(
    differences: list[float], alpha: float
) -> None:
    found = [each + 0.25 for each in differences]  # none is zero, no two are of one size
    assert differs(pair_shift(found, alpha)) == (p_of_pairs(found) <= alpha + 1e-12)


def test_shift_is_translated_with_the_values_and_negated_with_swapped_sides() -> None:
    one, moved, turned = (
        pair_shift([sign * log + by for log in LOGS], 0.05)
        for sign, by in ((1, 0), (1, 100), (-1, 0))
    )
    low, high = one.low or 0.0, one.high or 0.0
    assert moved.low == pytest.approx(low + 100)
    assert (turned.estimate, turned.low, turned.high) == (-one.estimate, -high, -low)


def test_too_few_values_have_no_interval() -> None:
    assert (least_pairs(0.05), least_pairs(0.01)) == (6, 8)
    for n, enough in ((5, False), (6, True)):
        shift = pair_shift([float(i + 1) for i in range(n)], 0.05)
        assert (shift.low is not None) is (detectable(shift, 0.05) is not None) is enough


ROUNDS = 1500


def test_ties_never_increase_false_alarms() -> None:
    lot, alpha, alarms = random.Random(9), 0.05, 0
    for _ in range(ROUNDS):
        drawn = [float(round(x, -3)) for x in lot.choices((*A, *B), k=20)]
        differences = [b - a for a, b in zip(drawn[:10], drawn[10:], strict=True)]
        alarms += differs(pair_shift(differences, alpha))
    assert alarms <= ROUNDS * alpha


@pytest.mark.parametrize(("n", "alpha"), [(10, 0.025), (15, 0.01), (40, 0.005)])
def test_detectable_difference_is_found_in_80_percent_of_trials(n: int, alpha: float) -> None:
    lot, noise = random.Random(5), 0.03

    def shift(size: float) -> Shift:
        return pair_shift([size + lot.gauss(0, noise) for _ in range(n)], alpha)

    size = statistics.median(detectable(shift(0), alpha) or math.nan for _ in range(300))
    found = sum(differs(shift(size)) for _ in range(ROUNDS))
    assert 0.7 <= found / ROUNDS <= 0.9


@pytest.mark.parametrize(("low", "high"), [(-3.0, 1.0), (-1.0, 3.0)])
def test_detectable_difference_is_the_wider_half_of_the_interval(low: float, high: float) -> None:
    # 0.8416 and 1.9600: the normal quantiles of 80 % and of 97.5 %, as in every textbook.
    for estimate in (0.0, 20.0):
        shift = Shift(estimate, estimate + low, estimate + high)
        assert detectable(shift, 0.05) == pytest.approx(3 * (1 + 0.8416 / 1.9600), rel=1e-4)
    assert detectable(Shift(0.0, None, None), 0.05) is None
