"""The kernel's own round trip: to a listener, to a closed port, and to an unserved listener."""

import socket
from collections.abc import Iterator

import pytest

from sitebench.monitor.handshake import Handshakes, RoundTrips
from tests.support.waiting import eventually


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that a kernel answers for; no program ever accepts."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def test_a_kernel_answers_though_no_program_does(listener: socket.socket) -> None:
    handshakes = Handshakes(*listener.getsockname()[:2])
    try:
        assert eventually(lambda: handshakes.read().n >= 3)
        seen = handshakes.seen
        assert seen.least_s is not None
        assert 0 < seen.least_s <= seen.sum_s / seen.n < 1
    finally:
        handshakes.close()


def test_a_closed_port_has_no_round_trip(listener: socket.socket) -> None:
    address = listener.getsockname()[:2]
    listener.close()
    handshakes = Handshakes(*address)
    try:
        assert not eventually(lambda: handshakes.read().n > 0, within_s=0.2)
    finally:
        handshakes.close()


def test_a_name_that_means_nothing_costs_the_figure_only() -> None:
    assert Handshakes("nobody.invalid", 1).read() == RoundTrips()


def test_a_windows_mean_is_a_difference() -> None:
    start = RoundTrips().plus(0.010)
    end = start.plus(0.002).plus(0.004)
    assert end.mean_since(start) == pytest.approx(0.003)
    assert end.least_s == 0.002
    assert end.mean_since(end) is None
