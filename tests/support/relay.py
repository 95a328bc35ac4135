"""A faulty network in front of a server: real sockets, a thread for each direction.

A `Way` forwards answers; the test may change it at any time. Requests pass unchanged.
"""

import contextlib
import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

Way = Callable[[bytes, socket.socket], None]
"""Forwards a piece of an answer to a client; raises OSError if that ends the connection."""

_SMALL = 300
"""Maximum size of an answer to a probe without attributes; a person's answer has 1,283 bytes."""
AT_ONCE = struct.pack("ii", 1, 0)
"""Value of SO_LINGER that makes a close a reset."""


def passing(piece: bytes, client: socket.socket) -> None:
    client.sendall(piece)


def delaying(delay_s: Callable[[float], float]) -> Way:
    """Forward pieces with a delay; `delay_s` gets the seconds since now."""
    began = time.monotonic()

    def way(piece: bytes, client: socket.socket) -> None:
        time.sleep(delay_s(time.monotonic() - began))
        client.sendall(piece)

    return way


def paced(per_s: Callable[[float], float]) -> Way:
    """Forward a fixed number of pieces a second over all connections, and late pieces at once.

    `per_s` gets the seconds since the first piece. A busy machine does not change the number of
    pieces per second, as long as all are forwarded in the end.
    """
    lock, began, due_s = threading.Lock(), 0.0, 0.0

    def way(piece: bytes, client: socket.socket) -> None:
        nonlocal began, due_s
        with lock:
            began = began or time.monotonic()
            due_s += 1 / per_s(due_s)
            mine = began + due_s
        time.sleep(max(0.0, mine - time.monotonic()))
        client.sendall(piece)

    return way


def trickling(pause_s: float, single: int) -> Way:
    """Forward the first bytes one at a time with a pause after each, then the remainder."""

    def way(piece: bytes, client: socket.socket) -> None:
        for n in range(min(single, len(piece))):
            client.sendall(piece[n : n + 1])
            time.sleep(pause_s)
        client.sendall(piece[single:])

    return way


def cutting(*, reset: bool) -> Way:
    """Forward half of a piece, and end the connection."""

    def way(piece: bytes, client: socket.socket) -> None:
        client.sendall(piece[: len(piece) // 2])
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        raise ConnectionAbortedError

    return way


def losing(seconds: float) -> Way:
    """Forward no bytes for some seconds from now on, and then all: the connections stay open."""
    return delaying(lambda since_s: max(0.0, seconds - since_s))


def in_turn(*ways: Way) -> Way:
    turns = itertools.cycle(ways)

    def way(piece: bytes, client: socket.socket) -> None:
        next(turns)(piece, client)

    return way


class Changing:
    """A way that a test changes while pieces are forwarded."""

    def __init__(self, now: Way = passing) -> None:
        self.now = now

    def __call__(self, piece: bytes, client: socket.socket) -> None:
        self.now(piece, client)


@contextlib.contextmanager
def relayed(port: int, way: Way) -> Iterator[int]:
    """Yield a port that leads to `port` of this machine."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    pairs: list[tuple[socket.socket, socket.socket]] = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with contextlib.suppress(OSError):
                    pair = client, socket.create_connection(("127.0.0.1", port))
                    pairs.append(pair)
                    threading.Thread(target=ask, args=pair, daemon=True).start()
                    threading.Thread(target=answer, args=pair, daemon=True).start()
                    continue
                client.close()

    def ask(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while request := client.recv(65_536):
                server.sendall(request)
            server.shutdown(socket.SHUT_WR)

    def answer(client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := server.recv(65_536):
                way(piece, client)
        _close(client, server)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        _close(listener, *itertools.chain(*pairs))


@contextlib.contextmanager
def silent_directory(port: int) -> Iterator[str]:
    """Yield the address of a directory at `port` that answers binds but returns no person."""

    def way(piece: bytes, client: socket.socket) -> None:
        if len(piece) <= _SMALL:
            client.sendall(piece)

    with relayed(port, way) as before:
        yield f"ldap://127.0.0.1:{before}"


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        # A reader would keep it open. It is still a reset, because shutdown sends no byte.
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RD)
        each.close()
