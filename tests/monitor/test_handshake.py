"""The kernel's own round trip: to a listener, to a closed port, and to an unserved listener."""

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from sitebench.monitor.handshake import Handshakes, RoundTrips, _progress
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
        seen = handshakes.read()
        typical_s = seen.typical_since(RoundTrips())
        assert seen.least_s is not None
        assert typical_s is not None
        assert 0 < seen.least_s <= typical_s < 1
    finally:
        handshakes.close()


def test_server_with_one_worker_is_not_kept_waiting(listener: socket.socket) -> None:
    handshakes = Handshakes(*listener.getsockname()[:2])
    try:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(0.5)
            assert connection.recv(1) == b""
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
    assert Handshakes("nobody.invalid", 1).read().typical_since(RoundTrips()) is None


def test_a_window_has_the_median_of_its_own_and_counts_those_that_are_under_way() -> None:
    took_s = [0.010, 0.002, 0.004, 0.003]
    start, end = RoundTrips(took_s, 1), RoundTrips(took_s, 4)
    assert end.typical_since(start) == pytest.approx(0.003)
    assert (end.least_s, end.last_s) == (0.002, 0.003)
    assert end.typical_since(end) is None
    slow = RoundTrips(took_s, 4, (2.0, 1.0, 3.0, 1.5))
    assert slow.typical_since(start) == pytest.approx(1.0)


def test_a_handshake_whose_first_segment_was_lost_is_not_left_out() -> None:
    with contextlib.ExitStack() as opened:
        # A kernel drops what comes for a queue that is full; the segment is sent again.
        listener = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        address = listener.getsockname()
        opened.enter_context(socket.create_connection(address))
        handshakes = Handshakes(*address)
        opened.callback(handshakes.close)
        start = handshakes.read()

        def typical_s() -> float:
            return handshakes.read().typical_since(start) or 0.0

        def longest_s() -> float:
            seen = handshakes.read()
            return max(seen.took_s[start.n : seen.n], default=0.0)

        assert eventually(lambda: typical_s() > 0.9)
        assert longest_s() == 0.0
        # With room again, those begun since then are quick, and may end before it.
        listener.listen(4_096)
        assert eventually(lambda: longest_s() > 0.9)


def test_the_round_trips_of_the_loads_own_connections_hold_the_targets_time() -> None:
    # Why they are not used: the acknowledgement of a request comes with its answer.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        with ours, theirs:
            for _ in range(30):
                ours.sendall(b"request")
                theirs.recv(7)
                time.sleep(0.01)
                theirs.sendall(b"answer")
                ours.recv(6)
            _, took_s = _progress(ours)
    assert took_s > 0.005
