"""A relay that delays every message, as a server further away than loopback would.

Used by the bench where the kernel has no netem: the relay runs in its own thread and delays all
compared programs equally.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from ils_bench.targets.address import DirectoryAddress
from sitebench.system.network import free_port

READ_BYTES = 1 << 16


@contextlib.contextmanager
def moved_away(address: DirectoryAddress, round_trip_s: float) -> Iterator[DirectoryAddress]:
    """Yield an address whose answers are delayed by `round_trip_s`."""
    here = DirectoryAddress("127.0.0.1", free_port())
    listening, left = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(address.host, address.port)
        there = _later(reader, far_writer, round_trip_s / 2)
        back = _later(far_reader, writer, round_trip_s / 2)
        # A connection that outlives the measurement ends with the relay.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(there, back)

    async def serve() -> None:
        async with await asyncio.start_server(relay, here.host, here.port):
            loops.append(asyncio.get_running_loop())
            listening.set()
            await left.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    listening.wait()
    try:
        yield here
    finally:
        loops[0].call_soon_threadsafe(left.set)
        thread.join()


async def _later(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float
) -> None:
    """Forward each piece `delay_s` after it arrived."""
    loop = asyncio.get_running_loop()
    try:
        while piece := await reader.read(READ_BYTES):
            loop.call_later(delay_s, writer.write, piece)
        await asyncio.sleep(delay_s)
    finally:
        writer.close()
