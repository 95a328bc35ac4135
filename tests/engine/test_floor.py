"""The floor: two raw loops, the reference for every load generator."""

from collections.abc import Iterator

import pytest

from sitebench._engine import EngineError, NullResponder, floor_exchange

REQUEST, RESPONSE = 104, 1_283
SENT = b"." * REQUEST


@pytest.fixture
def responder() -> Iterator[NullResponder]:
    serving = NullResponder(REQUEST, RESPONSE)
    yield serving
    serving.stop()


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


def test_stopped_responder_does_not_answer_and_stop_is_idempotent() -> None:
    responder = NullResponder(REQUEST, RESPONSE)
    responder.stop()
    responder.stop()
    with pytest.raises(EngineError, match="is it running"):
        floor_exchange(responder.port, 1, 0.1, SENT, RESPONSE)


def test_negative_time_is_refused(responder: NullResponder) -> None:
    with pytest.raises(ValueError, match="seconds"):
        floor_exchange(responder.port, 1, -1.0, SENT, RESPONSE)
