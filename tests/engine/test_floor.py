"""The floor: two raw loops, the reference for every load generator."""

import contextlib
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sitebench._engine import EngineError, NullResponder, floor_exchange

REQUEST, RESPONSE = 104, 1_283
SENT = b"." * REQUEST


@pytest.fixture
def responder() -> Iterator[NullResponder]:
    serving = NullResponder(REQUEST, RESPONSE)
    yield serving
    serving.stop()


def receive(client: socket.socket, size: int) -> bytes:
    return client.recv(size, socket.MSG_WAITALL)


def test_null_responder_answers_each_request_whatever_its_bytes(responder: NullResponder) -> None:
    with socket.create_connection(("127.0.0.1", responder.port), timeout=10) as client:
        client.sendall(b"?" * (REQUEST - 1))
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(10)
        client.sendall(b"?" * (REQUEST + 1))
        assert len(receive(client, 2 * RESPONSE)) == 2 * RESPONSE


@pytest.mark.parametrize("reconnects", [False, True])
@pytest.mark.parametrize("connections", [1, 8])
def test_exchange_reports_operations_and_cpu(
    responder: NullResponder, connections: int, *, reconnects: bool
) -> None:
    for seconds in (0.2, 1, 5):  # A busy machine needs more to get something done.
        found = floor_exchange(
            responder.port, connections, seconds, SENT, RESPONSE, reconnects=reconnects
        )
        if found["operations"] > 100:
            break
    assert set(found) == {"operations", "seconds", "cpu_ns", "p50_ns", "p99_ns", "max_ns"}
    assert found["operations"] > 100
    assert seconds <= found["seconds"] < seconds + 5
    assert 0 < found["cpu_ns"] <= found["seconds"] * 1e9
    assert 0 < found["p50_ns"] <= found["p99_ns"] <= found["max_ns"]


def test_exchange_sends_the_request_unchanged() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as threads:
        port = server.getsockname()[1]
        traded = threads.submit(floor_exchange, port, 1, 0.2, b"hello", 3)
        client, _ = server.accept()
        # The client disconnects with an unread answer.
        with client, contextlib.suppress(ConnectionResetError):
            client.settimeout(10)
            while asked := receive(client, 5):
                assert asked == b"hello"
                client.sendall(b"yes")
        assert traded.result()["operations"] > 0


def test_stopped_responder_does_not_answer_and_stop_is_idempotent() -> None:
    responder = NullResponder(REQUEST, RESPONSE)
    responder.stop()
    responder.stop()
    with pytest.raises(EngineError, match="is it running"):
        floor_exchange(responder.port, 1, 0.1, SENT, RESPONSE)


def test_port_in_use_is_named(responder: NullResponder) -> None:
    with pytest.raises(EngineError, match=f"127.0.0.1:{responder.port}"):
        NullResponder(REQUEST, RESPONSE, responder.port)


def test_impossible_sizes_and_times_are_refused(responder: NullResponder) -> None:
    with pytest.raises(EngineError, match="cannot be traded"):
        NullResponder(0, RESPONSE)
    with pytest.raises(EngineError, match="0 connections"):
        floor_exchange(responder.port, 0, 0.1, SENT, RESPONSE)
    with pytest.raises(ValueError, match="seconds"):
        floor_exchange(responder.port, 1, -1.0, SENT, RESPONSE)
