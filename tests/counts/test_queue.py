"""How much a queue may grow by chance; a queue consists of waiting and outstanding operations."""

import math
import random

import pytest

from sitebench.counts.queue import LEAST_SHARE, NO_QUEUE, Queue, allowed_growth


def test_queue_is_waiting_plus_outstanding_operations() -> None:
    assert Queue(backlog=3, in_flight=4).length == 7
    assert NO_QUEUE.length == 0


def test_queue_may_grow_by_half_a_percent_of_many_arrivals() -> None:
    assert allowed_growth(0, 100_000) == pytest.approx(500)
    # A target that falls behind by 1.5 % is reported.
    assert pytest.approx(0.015) == 3 * LEAST_SHARE


@pytest.mark.parametrize("length", [0, 1, 20, 500])
def test_growth_limit_of_a_small_queue_is_three_poisson_deviations(length: int) -> None:
    assert allowed_growth(length, 0) == pytest.approx(3 * math.sqrt(2 * (length + 1)))


def test_queue_changes_seldom_exceed_three_standard_deviations_but_often_two() -> None:
    lot, length, tries = random.Random(1997), 50, 2_000

    def poisson() -> int:
        """Return the number of active members of a crowd, each with a small probability."""
        return sum(lot.random() < length / 500 for _ in range(500))

    grew = [poisson() - poisson() for _ in range(tries)]
    beyond = sum(each > allowed_growth(length, 0) for each in grew)
    assert beyond < 0.003 * tries
    assert sum(each > allowed_growth(length, 0) / 3 for each in grew) > 0.1 * tries
