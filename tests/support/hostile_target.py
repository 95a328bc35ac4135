"""A target that answers what no server does, on a thread for each connection."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = Callable[[socket.socket, threading.Event], None]
"""Answers a connection, until it is closed or the event is set."""


@contextmanager
def hostile(answer: Answer) -> Iterator[int]:
    """Yield the port of 127.0.0.1 where it listens."""
    ended, threads = threading.Event(), list[threading.Thread]()

    def serve(connection: socket.socket) -> None:
        # Never longer than a test, whatever its client does.
        connection.settimeout(60)
        with connection, contextlib.suppress(OSError):
            answer(connection, ended)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=serve, args=(connection,)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listener.getsockname()[1]
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for each in threads:
                each.join()


def flood(block: bytes) -> Answer:
    """Send a block again and again, as fast as it is taken."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        while not ended.is_set():
            connection.sendall(block)

    return answer


def trickle(content: bytes) -> Answer:
    """Send a byte, and another one as long as it is listened to: each renews a timeout."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        for each in content:
            connection.sendall(bytes([each]))
            if ended.wait(0.05):
                return
        while not ended.wait(0.05):
            connection.sendall(b"\0")

    return answer


def hold(connection: socket.socket, ended: threading.Event) -> None:
    """Send nothing more, and do not close."""
    ended.wait(60)
