"""A target with answers of no real server, in a thread for each connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

from tests.support import ldap_server as ldap

BASE = "o=Intranet"


def flood(block: bytes) -> ldap.Answer:
    """Send a block repeatedly, as fast as the client accepts it."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        while not ended.is_set():
            connection.sendall(block)

    return answer


def trickle(content: bytes) -> ldap.Answer:
    """Send single bytes while the client listens: each renews a timeout."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        for each in content:
            connection.sendall(bytes([each]))
            if ended.wait(0.05):
                return
        while not ended.wait(0.05):
            connection.sendall(b"\0")

    return answer


def hold(connection: socket.socket, ended: threading.Event) -> None:
    """Send no further bytes, and do not close."""
    ended.wait(60)


# A web site.

OK = b"HTTP/1.1 200 OK\r\n"


def site_that(*answers: ldap.Part) -> ldap.Answer:
    """Return an answer function that sends these answers to a request."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        connection.recv(65_536)
        for part in answers:
            if isinstance(part, bytes):
                connection.sendall(part)
            else:
                part(connection, ended)

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

PartOf = Callable[[bytes], ldap.Part]
"""Part of an answer, by the message ID of its request."""


def directory_that(*parts: PartOf, to: int = ldap.SEARCH) -> ldap.Answer:
    """Answer one kind of request with `parts`, and other requests rightly."""

    def reply(number: bytes, operation: bytes) -> Iterator[ldap.Part]:
        if operation[0] == to:
            yield from (part(number) for part in parts)
        else:
            if operation[0] == ldap.SEARCH:
                yield entry(number)
            yield ldap.response(number, operation, ldap.result(0))

    return ldap.directory(reply)


def entry(number: bytes, value: bytes = b"x", times: int = 1) -> bytes:
    attribute = ldap.tlv(0x30, ldap.tlv(4, b"cn") + ldap.tlv(0x31, ldap.tlv(4, value))) * times
    return ldap.message(number, ldap.ENTRY, ldap.tlv(4, BASE.encode()) + ldap.tlv(0x30, attribute))


ELSEWHERE, UNKNOWN = ldap.tlv(4, b"ldap://127.0.0.1:1/"), ldap.tlv(0x80, b"1.2.3")
LATE_DIRECTORIES = {
    "a byte now and then": directory_that(lambda number: trickle(entry(number, b"x" * 100_000))),
    "entries now and then": directory_that(lambda number: trickle(entry(number) * 1_000)),
    "a length without its bytes": directory_that(
        lambda number: ldap.message(number, ldap.ENTRY, b"x" * 200_000)[:20], lambda _: trickle(b"")
    ),
}
ENDLESS_DIRECTORIES = {
    "entries": directory_that(lambda number: flood(entry(number, b"x" * 1_000) * 60)),
    "small entries": directory_that(lambda number: flood(entry(number) * 500)),
    "references": directory_that(
        lambda number: flood(ldap.message(number, ldap.REFERENCE, ELSEWHERE) * 500)
    ),
    "intermediate responses": directory_that(
        lambda number: flood(ldap.message(number, ldap.INTERMEDIATE, UNKNOWN) * 1_000)
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
        lambda number: flood(entry(number, b"x" * 1_000) * 60), to=ldap.BIND
    ),
}
