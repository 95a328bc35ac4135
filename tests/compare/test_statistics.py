"""Intervals against reference values, against every arrangement, and against their own promise.

Reference p values are from scipy 1.17.1 (numpy 2.4.6, Python 3.11.7), which is not needed to run
this: `mannwhitneyu` and `wilcoxon` with method="exact", and method="asymptotic" (continuity
corrected) for many values. An interval excludes zero exactly if its test's p is at most alpha. The
intervals of the two textbook samples are those that Hollander and Wolfe print (1973, pages 29, 33,
69 and 78), as R's `wilcox.test` gives them.
"""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitebench.compare.statistics import (
    detectable,
    group_shift,
    least_groups,
    least_pairs,
    pair_shift,
)

# Rates of lookups, two directories, ten windows of one second each.
A = (15089, 14820, 14510, 14782, 14412, 15434, 14528, 16108, 14781, 16154)
B = (14912, 14330, 14332, 14358, 14788, 14460, 14465, 13842, 14682, 14237)
LOGS = [math.log(b / a) for a, b in zip(A, B, strict=True)]

# Hollander and Wolfe: depression before and after; permeability at term and before.
BEFORE = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
AFTER = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)
TERM = (0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
EARLY = (1.15, 0.88, 0.90, 0.74, 1.21)

apart = st.lists(st.integers(-(10**6), 10**6).map(float), min_size=2, max_size=8, unique=True)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [(A, B, 0.00893069778518695), (TERM, EARLY, 0.2544122544122544)],
)
def test_intervals_of_groups_agree_with_the_reference(
    a: tuple[float, ...], b: tuple[float, ...], p: float
) -> None:
    assert group_shift(a, b, p * 1.0001).differs
    assert not group_shift(a, b, p * 0.9999).differs


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        (LOGS, 0.01953125),
        ([b - a for a, b in zip(BEFORE, AFTER, strict=True)], 0.0390625),
    ],
)
def test_intervals_of_pairs_agree_with_the_reference(differences: list[float], p: float) -> None:
    assert pair_shift(differences, p * 1.0001).differs
    assert not pair_shift(differences, p * 0.9999).differs


def test_many_values_are_judged_by_the_normal_approximation() -> None:
    # The reference p is 0.0356 for the groups and 0.00234 for the pairs.
    # numpy.random.default_rng(4): normal(0, 1, 40), normal(0.4, 1, 45), normal(0.2, 1, 70).
    a = [
        *(-0.7, -0.2, 1.7, 0.7, -1.6, -0.0, -0.6, 0.1, -1.6, 0.2, 0.2, 1.6, 0.3, 0.5, -1.5, 2.3),
        *(-1.9, 1.1, -0.3, -0.9, -0.7, -0.7, 0.4, -0.1, 1.5, -1.8, -0.0, -0.9, 0.8, -2.1, -0.3),
        *(0.2, -1.5, 1.0, 0.2, 1.0, 1.0, -1.0, -0.8, -0.2),
    ]
    b = [
        *(1.1, 1.3, -0.3, -0.2, -0.4, -0.2, 0.2, 0.3, 2.5, -0.1, 0.1, 0.9, -0.6, 0.0, 0.4, 1.2),
        *(-0.9, 1.8, 0.0, 0.6, 1.2, 1.1, 1.5, 0.6, 0.4, 0.7, -0.6, 1.6, -0.4, -0.9, 2.5, 0.3),
        *(-0.8, 2.3, 0.1, 1.5, -0.4, 0.2, -1.3, -1.5, -0.6, 0.3, 1.2, 2.8, -0.6),
    ]
    differences = [
        *(1.209, -0.404, 0.047, -1.281, -1.279, -0.578, -0.993, 0.196, -0.503, 1.451, 0.353),
        *(0.365, 1.337, 0.718, 0.163, 0.109, 0.079, 1.277, 0.983, 0.566, 0.999, -0.345, 0.711),
        *(-1.212, 1.547, 0.29, 0.383, 0.799, 0.19, -0.054, 1.39, 0.316, -0.716, 0.64, -1.505),
        *(1.856, 0.029, 0.246, 2.458, 2.352, 0.316, 0.825, 1.29, 1.882, 0.069, 0.335, 1.425),
        *(0.47, 0.954, 0.81, -0.935, -0.659, -2.441, -0.06, 1.539, -0.909, 1.434, 1.2, 0.145),
        *(0.192, 0.283, -0.661, -0.082, 0.153, 0.812, 0.992, -0.543, 1.026, -0.578, 0.031),
    ]
    assert group_shift(a, b, 0.1).differs
    assert not group_shift(a, b, 0.03).differs
    assert pair_shift(differences, 0.0025).differs
    assert not pair_shift(differences, 0.0022).differs


def test_the_textbook_shifts_are_those_in_print() -> None:
    groups = group_shift(EARLY, TERM, 0.05)
    assert (groups.estimate, groups.low, groups.high) == pytest.approx((0.305, -0.15, 0.76))
    pairs = pair_shift([b - a for a, b in zip(BEFORE, AFTER, strict=True)], 0.05)
    assert (pairs.estimate, pairs.low, pairs.high) == pytest.approx((-0.46, -0.786, -0.010))


def p_of_groups(a: list[float], b: list[float]) -> float:
    """Mann-Whitney's two-sided p, by counting every way to divide the values into two groups."""

    def u(group: tuple[float, ...], others: list[float]) -> int:
        return sum(y > x for y in group for x in others)

    every, found = [], u(tuple(b), a)
    pooled = [*a, *b]
    for chosen in itertools.combinations(range(len(pooled)), len(b)):
        rest = [pooled[i] for i in range(len(pooled)) if i not in chosen]
        every.append(u(tuple(pooled[i] for i in chosen), rest))
    tails = min(sum(x <= found for x in every), sum(x >= found for x in every))
    return min(1.0, 2 * tails / len(every))


def p_of_pairs(differences: list[float]) -> float:
    """Wilcoxon's two-sided p, by counting every choice of signs."""
    rank = {size: n for n, size in enumerate(sorted(map(abs, differences)), 1)}

    def w(signs: tuple[int, ...]) -> int:
        return sum(rank[abs(d)] for d, sign in zip(differences, signs, strict=True) if sign > 0)

    every = [w(signs) for signs in itertools.product((1, -1), repeat=len(differences))]
    found = w(tuple(1 if d > 0 else -1 for d in differences))
    tails = min(sum(x <= found for x in every), sum(x >= found for x in every))
    return min(1.0, 2 * tails / len(every))


@settings(deadline=None)
@given(apart, apart, st.sampled_from((0.3, 0.1, 0.05, 0.01)))
def test_an_interval_excludes_zero_exactly_if_its_test_rejects(
    a: list[float], b: list[float], alpha: float
) -> None:
    b = [y + 0.25 for y in b]  # no value of one group in the other, no difference of zero
    assert group_shift(a, b, alpha).differs == (p_of_groups(a, b) <= alpha + 1e-12)
    sizes = {abs(y) for y in b}
    if len(sizes) == len(b):
        assert pair_shift(b, alpha).differs == (p_of_pairs(b) <= alpha + 1e-12)


def test_a_shift_moves_with_the_values_and_turns_with_the_sides() -> None:
    one = group_shift(A, B, 0.05)
    moved = group_shift(A, [b + 100 for b in B], 0.05)
    turned = group_shift(B, A, 0.05)
    assert one.low is not None
    assert moved.low is not None
    assert moved.low - one.low == pytest.approx(100)
    assert turned.estimate == -one.estimate
    assert (turned.low, turned.high) == (-(one.high or 0), -one.low)


def test_too_few_values_have_no_interval() -> None:
    assert (least_groups(0.05), least_groups(0.01)) == (4, 5)
    assert (least_pairs(0.05), least_pairs(0.01)) == (6, 8)
    for n, enough in ((3, False), (4, True)):
        assert (group_shift([0.0] * n, [1.0] * n, 0.05).low is not None) is enough
    for n, enough in ((5, False), (6, True)):
        found = pair_shift([float(i + 1) for i in range(n)], 0.05)
        assert (found.low is not None) is enough
        assert (detectable(found, 0.05) is not None) is enough


def test_equal_values_are_no_difference() -> None:
    assert not group_shift([5.0] * 9, [5.0] * 9, 0.05).differs
    assert not pair_shift([0.0] * 9, 0.05).differs


# Rates of 54 windows of lookups at one slapd, in order, on a machine that others used too: they
# drift, some are a third lower, and neighbours are alike.
REAL = (
    *(15089, 14487, 14820, 14711, 14510, 14331, 14782, 15177, 14412, 14197, 15434, 15256, 14528),
    *(15205, 16108, 15886, 14781, 15134, 16154, 14221, 13926, 14408, 14652, 14790, 14302, 14728),
    *(14971, 14405, 13830, 14368, 14438, 14655, 14061, 13739, 14340, 14077, 15343, 15081, 14790),
    *(14998, 15230, 16554, 15035, 10824, 12989, 16230, 14399, 16046, 16095, 16267, 14933, 15246),
    *(15044, 15011),
)
ROUNDS = 1500


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_real_repeats_shuffled_give_about_as_many_false_alarms_as_promised(alpha: float) -> None:
    lot = random.Random(7)
    alarms = 0
    for _ in range(ROUNDS):
        drawn = [math.log(x) for x in lot.sample(REAL, 20)]
        alarms += group_shift(drawn[:10], drawn[10:], alpha).differs
    assert _plausible(alarms, alpha)


def test_ties_make_fewer_false_alarms_never_more() -> None:
    lot, alpha = random.Random(9), 0.05
    alarms = [0, 0]
    for _ in range(ROUNDS):
        drawn = [float(round(x, -3)) for x in lot.sample(REAL, 20)]
        alarms[0] += group_shift(drawn[:10], drawn[10:], alpha).differs
        alarms[1] += pair_shift(
            [b - a for a, b in zip(drawn[:10], drawn[10:], strict=True)], alpha
        ).differs
    assert max(alarms) <= ROUNDS * alpha


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_pairs_keep_their_promise_on_a_machine_that_drifts(alpha: float) -> None:
    # Not shuffled: neighbours in time are a pair, and only which of them is A is by lot.
    lot = random.Random(11)
    logs, alarms = [math.log(x) for x in REAL], 0
    for _ in range(ROUNDS):
        start = lot.randrange(len(logs) - 24)
        pairs = [(logs[start + 2 * i], logs[start + 2 * i + 1]) for i in range(12)]
        differences = [lot.choice((1, -1)) * (b - a) for a, b in pairs]
        alarms += pair_shift(differences, alpha).differs
    assert _plausible(alarms, alpha)


def _plausible(alarms: int, alpha: float) -> bool:
    """Whether so many of ROUNDS are alpha, or the step of the exact distribution below it."""
    spread = 4 * math.sqrt(ROUNDS * alpha * (1 - alpha))
    return ROUNDS * alpha / 2 - spread <= alarms <= ROUNDS * alpha + spread and alarms > 0


def test_what_is_called_detectable_is_found_four_times_in_five() -> None:
    lot = random.Random(5)
    noise, alpha, n = 0.03, 0.01, 15
    sizes = [_detectable([lot.gauss(0, noise) for _ in range(n)], alpha) for _ in range(300)]
    size = statistics.median(sizes)
    found = sum(
        pair_shift([size + lot.gauss(0, noise) for _ in range(n)], alpha).differs
        for _ in range(ROUNDS)
    )
    assert 0.7 <= found / ROUNDS <= 0.9


def _detectable(differences: list[float], alpha: float) -> float:
    found = detectable(pair_shift(differences, alpha), alpha)
    assert found is not None
    return found
