"""A target that answers what no server does, on a thread for each connection."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.support.refusing_directory import BIND, SEARCH, UNBIND, message, result, split, tlv

BASE = "o=Intranet"
EXTENDED, ENTRY, DONE, REFERENCE, INTERMEDIATE = 0x77, 0x64, 0x65, 0x73, 0x79

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


# A web site.

OK = b"HTTP/1.1 200 OK\r\n"


def site_that(*answers: bytes | Answer) -> Answer:
    """Give these answers to a request."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        connection.recv(65_536)
        for each in answers:
            if isinstance(each, bytes):
                connection.sendall(each)
            else:
                each(connection, ended)

    return answer


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LATE_SITES = {
    "a byte now and then": site_that(trickle(OK)),
    "a body a byte now and then": site_that(trickle(OK + b"Content-Length: 2000\r\n\r\n")),
    "a body without its end": site_that(OK + b"Content-Length: 99999999999999\r\n\r\nok", hold),
    "a chunk without its end": site_that(CHUNKED + b"ffffffffffffffffffff\r\nok", trickle(b"")),
    "trailers a byte now and then": site_that(CHUNKED + b"0\r\n", trickle(b"")),
}
ENDLESS_SITES = {
    "provisional answers": site_that(flood(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)),
    "header lines": site_that(OK, flood(b"X-Header: of many\r\n" * 1_000)),
    "one header line": site_that(OK, flood(b"x" * 65_536)),
}
LARGE_SITES = {
    "a body without end": site_that(OK + b"\r\n", flood(b"a" * 65_536)),
    "small chunks": site_that(CHUNKED, flood(b"1\r\na\r\n" * 10_000)),
    "large chunks": site_that(CHUNKED, flood(b"10000\r\n" + b"a" * 65_536 + b"\r\n")),
    "trailers": site_that(CHUNKED + b"0\r\n", flood(b"X-Trailer: of many\r\n" * 1_000)),
    "a length beyond all memory": site_that(
        OK + b"Content-Length: 99999999999999\r\n\r\n", flood(b"a" * 65_536)
    ),
}


# A directory.

Part = Callable[[bytes], bytes | Answer]
"""Of an answer, for the number of its request."""


def directory_that(*parts: Part, to: int = SEARCH) -> Answer:
    """Answer one kind of request so, and others as they should be."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        received = b""
        while part := connection.recv(65_536):
            received += part
            while (whole := split(received)) is not None:
                number, operation, received = whole
                if operation[0] == to:
                    for each in parts:
                        said = each(number)
                        if isinstance(said, bytes):
                            connection.sendall(said)
                        else:
                            said(connection, ended)
                elif operation[0] == SEARCH:
                    connection.sendall(entry(number) + message(number, DONE, result(0)))
                elif operation[0] != UNBIND:
                    connection.sendall(message(number, operation[0] + 1, result(0)))

    return answer


def entry(number: bytes, value: bytes = b"x", times: int = 1) -> bytes:
    attribute = tlv(0x30, tlv(4, b"cn") + tlv(0x31, tlv(4, value))) * times
    return message(number, ENTRY, tlv(4, BASE.encode()) + tlv(0x30, attribute))


LATE_DIRECTORIES = {
    "a byte now and then": directory_that(lambda number: trickle(entry(number, b"x" * 100_000))),
    "entries now and then": directory_that(lambda number: trickle(entry(number) * 1_000)),
    "a length without its bytes": directory_that(
        lambda number: message(number, ENTRY, b"x" * 200_000)[:20], lambda _: trickle(b"")
    ),
}
ENDLESS_DIRECTORIES = {
    "entries": directory_that(lambda number: flood(entry(number, b"x" * 1_000) * 60)),
    "small entries": directory_that(lambda number: flood(entry(number) * 500)),
    "references": directory_that(
        lambda number: flood(message(number, REFERENCE, tlv(4, b"ldap://127.0.0.1:1/")) * 500)
    ),
    "intermediate responses": directory_that(
        lambda number: flood(message(number, INTERMEDIATE, tlv(0x80, b"1.2.3")) * 1_000)
    ),
    "one entry": directory_that(
        lambda number: b"\x30\x84\x00\xf0\x00\x00\x02\x01" + number + b"\x64\x84\x00\xef\xff\x00",
        lambda _: flood(b"\x04\x01x" * 20_000),
    ),
    "one entry of many attributes": directory_that(
        lambda number: flood(entry(number, b"", 10_000))
    ),
    "a length of 2 GB": directory_that(
        lambda number: b"\x30\x84\x7f\xff\xff\xff\x02\x01" + number, lambda _: hold
    ),
    "a length beyond all memory": directory_that(
        lambda _: b"\x30\xff" + b"\xff" * 127, lambda _: hold
    ),
    "zeros": directory_that(lambda _: flood(b"\0" * 65_536)),
    "entries instead of an answer to the bind": directory_that(
        lambda number: flood(entry(number, b"x" * 1_000) * 60), to=BIND
    ),
}
