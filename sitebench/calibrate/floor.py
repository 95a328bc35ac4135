"""The least cost of a request and its answer: two native loops, a client and a server.

They parse and check nothing, so their rate is an upper bound for load generator and target.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from sitebench._engine import floor_exchange
from sitebench.system.child import Child
from sitebench.system.machine import cpu_ns
from sitebench.system.native_errors import translated


class Exchange(NamedTuple):
    request_bytes: int
    response_bytes: int


class Responder(msgspec.Struct, frozen=True):
    port: int
    pid: int
    exchange: Exchange


class Floor(msgspec.Struct, frozen=True):
    """Figures of the loops, with the CPU time of an operation in client and server."""

    ops_per_s: float
    client_cpu_us: float
    server_cpu_us: float
    p50_us: float


@contextlib.contextmanager
def responder(exchange: Exchange) -> Iterator[Responder]:
    child = Child("sitebench.calibrate.null_responder", exchange._asdict())
    try:
        yield Responder(int(child.ready["port"]), child.pid, exchange)
    finally:
        child.stop()


def exchanges(
    server: Responder, connections: int, seconds: float, *, reconnects: bool = False
) -> Floor:
    """Exchange bytes as fast as a thread can.

    With `reconnects`, the client opens a connection for each operation.
    """
    request, server_ns = b"." * server.exchange.request_bytes, cpu_ns(server.pid)
    response_bytes = server.exchange.response_bytes
    with translated():
        totals = floor_exchange(
            server.port, connections, seconds, request, response_bytes, reconnects=reconnects
        )
    server_ns = cpu_ns(server.pid) - server_ns
    operations = max(totals["operations"], 1.0)
    return Floor(
        totals["operations"] / totals["seconds"],
        totals["cpu_ns"] / operations / 1e3,
        server_ns / operations / 1e3,
        totals["p50_ns"] / 1e3,
    )
