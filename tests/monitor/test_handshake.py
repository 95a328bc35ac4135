"""The kernel's own round trip: to a listener, a closed port, and an unserved listener."""

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from sitebench.monitor.handshake import Handshakes, RoundTrips, _progress
from tests.support.waiting import eventually


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket for which a kernel answers; no program ever accepts."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def test_handshake_is_answered_by_the_kernel_without_accept(listener: socket.socket) -> None:
    with contextlib.closing(Handshakes(*listener.getsockname()[:2])) as handshakes:
        assert eventually(lambda: handshakes.read().n >= 3)
        seen = handshakes.read()
        typical_s = seen.typical_since(RoundTrips())
        assert 0 < (seen.least_s or 0.0) <= (typical_s or 0.0) < 1


def test_handshake_does_not_block_a_server_with_one_worker(listener: socket.socket) -> None:
    with contextlib.closing(Handshakes(*listener.getsockname()[:2])):
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(0.5)
            assert connection.recv(1) == b""


def test_closed_port_has_no_round_trip_time(listener: socket.socket) -> None:
    address = listener.getsockname()[:2]
    listener.close()
    with contextlib.closing(Handshakes(*address)) as handshakes:
        assert not eventually(lambda: handshakes.read().n > 0, within_s=0.2)


def test_unknown_host_name_omits_only_the_round_trip_time() -> None:
    assert Handshakes("nobody.invalid", 1).read().typical_since(RoundTrips()) is None


def test_median_is_of_the_handshakes_in_the_window_including_outstanding_ones() -> None:
    took_s = [0.010, 0.002, 0.004, 0.003]
    start, end = RoundTrips(took_s, 1), RoundTrips(took_s, 4)
    assert end.typical_since(start) == pytest.approx(0.003)
    assert (end.least_s, end.last_s) == (0.002, 0.003)
    assert end.typical_since(end) is None
    slow = RoundTrips(took_s, 4, (2.0, 1.0, 3.0, 1.5))
    assert slow.typical_since(start) == pytest.approx(1.0)


def test_handshake_with_a_lost_first_segment_is_counted() -> None:
    with contextlib.ExitStack() as opened:
        # A kernel drops segments for a full queue, and the client sends them again.
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
        # With space in the queue, later handshakes are fast, and may end before the delayed one.
        listener.listen(4_096)
        assert eventually(lambda: longest_s() > 0.9)


def test_round_trips_of_load_connections_include_target_time() -> None:
    # Therefore they are not used: the acknowledgement of a request arrives with its answer.
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
