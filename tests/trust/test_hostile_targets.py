"""A target that sends without end, or hardly anything: each look at it ends soon, in one line."""

import contextlib
import signal
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ils_bench.targets.probe as directory
from ils_bench.targets.address import parse_address
from sitebench.errors import TargetTalksNonsense
from sitebench.http import site
from sitebench.http.address import SiteAddress
from sitebench.targets.certificate import make_certificate
from sitebench.targets.tls import Trust
from tests.support.cli import SITEBENCH, sitebench
from tests.support.hostile_target import Answer, flood, hold, hostile, trickle
from tests.support.refusing_directory import BIND, SEARCH, UNBIND, message, result, split, tlv

pytestmark = pytest.mark.timeout(120)
WHOLE_S = 1.0
BUSY_S = 20.0
"""More than a busy machine needs for what takes a second; far less than a flood takes."""
MOST_BYTES = 32 << 20
TRUST = Trust(insecure=True)
BASE = "o=Intranet"
EXTENDED, ENTRY, DONE, REFERENCE, INTERMEDIATE = 0x77, 0x64, 0x65, 0x73, 0x79


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (directory, site):
        monkeypatch.setattr(each, "WHOLE_S", WHOLE_S)


@contextlib.contextmanager
def soon_and_small() -> Iterator[None]:
    """Assert that what is done within takes neither long nor much memory."""
    tracemalloc.start()
    began = time.monotonic()
    try:
        yield
        took, (_, most) = time.monotonic() - began, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert took < BUSY_S
    assert most < MOST_BYTES


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    cert, key = (tmp_path_factory.mktemp("tls") / name for name in ("cert.pem", "key.pem"))
    make_certificate(cert, key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


def within(tls: ssl.SSLContext, answer: Answer) -> Answer:
    """Do the same in TLS."""

    def over_tls(connection: socket.socket, ended: threading.Event) -> None:
        with tls.wrap_socket(connection, server_side=True) as encrypted:
            answer(encrypted, ended)

    return over_tls


HANDSHAKE = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03"
"""The begin of a ServerHello, whose rest takes its time."""

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


@pytest.mark.parametrize("name", LATE_SITES)
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_site_that_is_late_is_refused(name: str, encrypted: bool, tls: ssl.SSLContext) -> None:
    answer = LATE_SITES[name]
    with hostile(within(tls, answer) if encrypted else answer) as port, soon_and_small():
        address = SiteAddress("127.0.0.1", port, scheme="https" if encrypted else "http")
        with pytest.raises(TargetTalksNonsense, match="answer takes longer than 1 s"):
            site.probe(address, TRUST)


@pytest.mark.parametrize("name", ENDLESS_SITES)
def test_a_site_without_an_answer_is_refused(name: str) -> None:
    refused = pytest.raises(TargetTalksNonsense, match="does not answer as a web server does")
    with hostile(ENDLESS_SITES[name]) as port, soon_and_small(), refused:
        site.probe(SiteAddress("127.0.0.1", port))


@pytest.mark.parametrize("name", LARGE_SITES)
@pytest.mark.parametrize("encrypted", [False, True])
def test_of_a_large_page_only_the_begin_is_read(
    name: str, encrypted: bool, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "WHOLE_S", 60.0)
    answer = LARGE_SITES[name]
    with hostile(within(tls, answer) if encrypted else answer) as port, soon_and_small():
        address = SiteAddress("127.0.0.1", port, scheme="https" if encrypted else "http")
        assert len(site.probe(address, TRUST).body) <= 1 << 20


def test_a_handshake_that_is_late_is_refused_by_a_sites_look() -> None:
    late = pytest.raises(TargetTalksNonsense, match="answer takes longer than 1 s")
    with hostile(trickle(HANDSHAKE)) as port, soon_and_small(), late:
        site.probe(SiteAddress("127.0.0.1", port, scheme="https"), TRUST)


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


def look(port: int, scheme: str = "ldap") -> None:
    """Look at a directory as every test does before its load."""
    start_tls = scheme == "starttls"
    url = f"{'ldap' if start_tls else scheme}://127.0.0.1:{port}"
    directory.probe(parse_address(url, start_tls=start_tls), BASE, trust=TRUST)


def accepts_start_tls(connection: socket.socket) -> bool:
    """Return whether a client asked for it; the first one only looks whether anything listens."""
    if (request := split(connection.recv(65_536))) is None:
        return False
    connection.sendall(message(request[0], EXTENDED + 1, result(0)))
    return True


def over(scheme: str, tls: ssl.SSLContext, answer: Answer) -> Answer:
    """Answer in the clear, in TLS or, after an extended operation, in StartTLS."""

    def after_start_tls(connection: socket.socket, ended: threading.Event) -> None:
        if accepts_start_tls(connection):
            within(tls, answer)(connection, ended)

    return {"ldap": answer, "ldaps": within(tls, answer), "starttls": after_start_tls}[scheme]


@pytest.mark.parametrize("name", LATE_DIRECTORIES)
@pytest.mark.parametrize("scheme", ["ldap", "ldaps", "starttls"])
def test_a_directory_that_is_late_is_refused(name: str, scheme: str, tls: ssl.SSLContext) -> None:
    late = pytest.raises(TargetTalksNonsense, match=r"answers? takes? longer than 1 s")
    with hostile(over(scheme, tls, LATE_DIRECTORIES[name])) as port, soon_and_small(), late:
        look(port, scheme)


@pytest.mark.parametrize("name", ENDLESS_DIRECTORIES)
@pytest.mark.parametrize("scheme", ["ldap", "ldaps", "starttls"])
def test_a_directory_without_an_end_is_refused(
    name: str, scheme: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By what it sends, and not by how long that takes.
    monkeypatch.setattr(directory, "WHOLE_S", 60.0)
    refused = pytest.raises(TargetTalksNonsense, match="does not answer as an LDAP server does")
    with hostile(over(scheme, tls, ENDLESS_DIRECTORIES[name])) as port, soon_and_small(), refused:
        look(port, scheme)


@pytest.mark.parametrize("scheme", ["ldaps", "starttls"])
def test_a_handshake_that_is_late_is_refused(scheme: str, tls: ssl.SSLContext) -> None:
    def answer(connection: socket.socket, ended: threading.Event) -> None:
        if scheme == "ldaps" or accepts_start_tls(connection):
            connection.recv(65_536)
            trickle(HANDSHAKE)(connection, ended)

    late = pytest.raises(TargetTalksNonsense, match="answers take longer than 1 s")
    with hostile(answer) as port, soon_and_small(), late:
        look(port, scheme)


def test_what_is_sent_in_the_clear_is_no_answer_in_tls(tls: ssl.SSLContext) -> None:
    def answer(connection: socket.socket, ended: threading.Event) -> None:
        if (request := split(connection.recv(65_536))) is not None:
            begun = message(b"\x02", BIND + 1, result(0))[:-1]
            connection.sendall(message(request[0], EXTENDED + 1, result(0)) + begun)
            within(tls, flood(b"\0"))(connection, ended)

    with hostile(answer) as port, pytest.raises(TargetTalksNonsense, match="more in the clear"):
        look(port, "starttls")


def lasting(port: int) -> contextlib.AbstractContextManager[Any]:
    """Connect as what fills a directory does."""
    opened: contextlib.AbstractContextManager[Any] = directory.connected(
        parse_address(f"ldap://127.0.0.1:{port}")
    )
    return opened


def slow(number: bytes, ended: threading.Event) -> bytes:
    ended.wait(0.6)
    return entry(number) + message(number, DONE, result(0))


def test_many_requests_may_take_longer_than_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "WHOLE_S", 2.5)

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        directory_that(lambda number: slow(number, ended))(connection, ended)

    with hostile(answer) as port, lasting(port) as connection:
        for _ in range(5):
            assert directory.exists(connection, BASE)


def test_each_of_many_answers_has_its_limit() -> None:
    late = pytest.raises(TargetTalksNonsense, match=r"answers? takes? longer than 1 s")
    with (
        hostile(LATE_DIRECTORIES["entries now and then"]) as port,
        soon_and_small(),
        late,
        lasting(port) as it,
    ):
        directory.exists(it, BASE)


# The commands.

FEW = ("--entries", "10", "--users", "1", "--warmup", "0s", "--measure", "1s")
LATE = {
    "ils": ("ldap", LATE_DIRECTORIES["a byte now and then"]),
    "ps": ("http", LATE_SITES["a body a byte now and then"]),
}


@pytest.mark.parametrize("half", LATE)
def test_a_command_says_in_one_line_that_its_target_is_late(half: str) -> None:
    scheme, answer = LATE[half]
    with hostile(answer) as port:
        where = ("--target", f"{scheme}://127.0.0.1:{port}", *FEW)
        ran = sitebench(half, "run", *(("lookup",) if half == "ils" else ("page",)), *where)
    assert ran.code == 1
    said, remedy = ran.err.splitlines()
    assert said.startswith(f"sitebench: {scheme}://127.0.0.1:{port} does not answer as ")
    assert said.endswith("longer than 10 s")
    assert remedy.startswith("  check host and port")


@pytest.mark.parametrize("half", LATE)
def test_ctrl_c_ends_a_look_at_once(half: str) -> None:
    scheme, answer = LATE[half]
    asked = threading.Event()

    def told(connection: socket.socket, ended: threading.Event) -> None:
        # What has been received stays there to be read.
        if connection.recv(1, socket.MSG_PEEK):
            asked.set()
            answer(connection, ended)

    with hostile(told) as port:
        operation = "lookup" if half == "ils" else "page"
        argv = (half, "run", operation, "--target", f"{scheme}://127.0.0.1:{port}", *FEW)
        process = subprocess.Popen(
            [*SITEBENCH, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out + err == ""
