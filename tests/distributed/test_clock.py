"""Conversion of a worker's instants to the master's clock."""

import pytest

from sitebench.locust.workers.clock import Ping, WorkerClock, epoch_ns
from tests.distributed.test_merge import part

S = 1_000_000_000


def there_and_back(offset: int, out: int, back: int, sent: int = 0, busy: int = 0) -> Ping:
    """Return a ping of a worker whose clock is ahead by `offset`."""
    received = sent + out + offset
    return Ping(sent, received, received + busy, sent + out + busy + back)


@pytest.mark.parametrize("offset", [0, 7 * S, -86_400 * S])
def test_symmetric_delays_give_the_exact_offset(offset: int) -> None:
    ping = there_and_back(offset, 300, 300, busy=5 * S)
    assert (ping.offset_ns, ping.round_trip_ns) == (offset, 600)


def test_clock_error_is_at_most_half_the_round_trip() -> None:
    for out, back in ((0, 1_000), (1_000, 0), (200, 800)):
        ping = there_and_back(5 * S, out, back)
        assert abs(ping.offset_ns - 5 * S) <= ping.round_trip_ns / 2


def test_offset_is_taken_from_the_fastest_ping() -> None:
    clock = WorkerClock()
    for out, back in ((40, 9_000), (100, 100), (7_000, 30)):
        clock.learn(there_and_back(3 * S, out, back), 0)
    assert clock.here_ns(10 * S) == 7 * S
    assert clock.round_trip_s == 2e-7


def test_drains_have_times_of_the_masters_clock() -> None:
    clock = WorkerClock()
    clock.learn(there_and_back(2 * S, 10, 10), 0)
    placed = clock.on_master(part(2_000, 2_500, 1))
    assert (placed.t0_ns, placed.t1_ns) == (0, S // 2)


def test_clock_skew_is_the_difference_of_wall_clocks() -> None:
    clock, here = WorkerClock(), epoch_ns()
    # Its monotonic clock began 5 s earlier, so at any instant it shows 5 s more; its wall clock is
    # 2 s ahead.
    clock.learn(there_and_back(5 * S, 10, 10), here - 5 * S + 2 * S)
    assert clock.skew_s == pytest.approx(2.0, abs=0.01)
