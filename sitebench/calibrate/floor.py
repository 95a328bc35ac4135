"""This machine's floor: two raw loops in native code, one thread each side, trading bytes.

What a tester and a target of any kind could reach together here at most: nothing is parsed,
nothing looked up, nothing checked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sitebench._engine import floor_connect, floor_exchange
from sitebench.system.child import Child
from sitebench.system.native_errors import translated


class Exchange(NamedTuple):
    """Bytes of one request and of its response."""

    request_bytes: int
    response_bytes: int


@dataclass(frozen=True)
class Floor:
    """What the raw loops reached."""

    ops_per_s: float
    cpu_us_per_op: float
    p50_us: float

    @classmethod
    def of(cls, found: dict[str, float]) -> Floor:
        """Read what the native loops return."""
        operations = max(found["operations"], 1.0)
        return cls(
            found["operations"] / found["seconds"],
            found["cpu_ns"] / operations / 1e3,
            found["p50_ns"] / 1e3,
        )


@contextlib.contextmanager
def responder(exchange: Exchange) -> Iterator[int]:
    """Yield the port of a null responder."""
    child = Child("sitebench.calibrate.null_responder", exchange._asdict())
    try:
        yield int(child.ready["port"])
    finally:
        child.stop()


def exchanges(port: int, exchange: Exchange, connections: int, seconds: float) -> Floor:
    """Trade over open connections as fast as one thread can."""
    with translated():
        return Floor.of(floor_exchange(port, connections, seconds, *exchange))


def connects(port: int, exchange: Exchange, connections: int, seconds: float) -> Floor:
    """Connect, trade once and close, as fast as one thread can."""
    with translated():
        return Floor.of(floor_connect(port, connections, seconds, *exchange))
