"""A target that sends endlessly or almost nothing: each probe ends soon, in one line."""

import contextlib
import signal
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

import ils_bench.targets.probe as directory
from ils_bench.targets.address import parse_address
from sitebench.errors import SitebenchError, TargetTalksNonsense
from sitebench.http import site
from sitebench.http.address import SiteAddress
from sitebench.targets.certificate import make_certificate
from sitebench.targets.tls import Trust
from tests.support.cli import SITEBENCH
from tests.support.hostile_target import (
    BASE,
    ENDLESS_DIRECTORIES,
    ENDLESS_SITES,
    LARGE_SITES,
    LATE_DIRECTORIES,
    LATE_SITES,
    directory_that,
    entry,
    flood,
    trickle,
)
from tests.support.ldap_server import (
    BIND,
    DONE,
    EXTENDED,
    Answer,
    message,
    result,
    serving,
    split,
    tlv,
)
from tests.support.waiting import left_s

pytestmark = pytest.mark.timeout(120)
WHOLE_S = 1.0
BUSY_S = 20.0
"""More than a busy machine needs for a second's work; far less than a flood takes."""
MOST_BYTES = 32 << 20
TRUST = Trust(insecure=True)
SMALL_IN_TLS = ("small chunks", True)
MANY_IN_TLS = ("one entry of many attributes", "ldaps")
"""Answers that take a second to parse are tested without TLS, and others also over TLS."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (directory, site):
        monkeypatch.setattr(each, "WHOLE_S", WHOLE_S)


@contextlib.contextmanager
def soon_and_small() -> Iterator[None]:
    """Assert that the body takes neither long nor much memory."""
    tracemalloc.start()
    began = time.monotonic()
    try:
        yield
    finally:
        took, (_, most) = time.monotonic() - began, tracemalloc.get_traced_memory()
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
    """Return the same answer over TLS."""

    def over_tls(connection: socket.socket, ended: threading.Event) -> None:
        with tls.wrap_socket(connection, server_side=True) as encrypted:
            answer(encrypted, ended)

    return over_tls


def look_at_site(answer: Answer, tls: ssl.SSLContext | None = None) -> site.Page:
    """Probe a site with this answer."""
    with serving(answer if tls is None else within(tls, answer)) as port, soon_and_small():
        address = SiteAddress("127.0.0.1", port, scheme="http" if tls is None else "https")
        return site.probe(address, TRUST)


HANDSHAKE = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03"
"""The beginning of a ServerHello whose remainder is delayed."""

# A web site.


@pytest.mark.parametrize("name", LATE_SITES)
@pytest.mark.parametrize("encrypted", [False, True])
def test_probe_of_a_slow_site_is_refused(name: str, encrypted: bool, tls: ssl.SSLContext) -> None:
    with pytest.raises(TargetTalksNonsense, match="answer takes longer than 1 s"):
        look_at_site(LATE_SITES[name], tls if encrypted else None)


@pytest.mark.parametrize("name", ENDLESS_SITES)
def test_site_without_an_answer_is_refused(name: str) -> None:
    with pytest.raises(TargetTalksNonsense, match="does not answer as a web server does"):
        look_at_site(ENDLESS_SITES[name])


def test_endless_provisional_answers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "WHOLE_S", 60.0)
    refused = pytest.raises(
        TargetTalksNonsense, match="over 1,048,576 bytes before its answer's body"
    )
    with serving(ENDLESS_SITES["provisional answers"]) as port, refused:
        site.probe(SiteAddress("127.0.0.1", port))


@pytest.mark.parametrize(
    ("name", "encrypted"),
    [(name, tls) for name in LARGE_SITES for tls in (False, True) if (name, tls) != SMALL_IN_TLS],
)
def test_only_the_start_of_a_large_page_is_read(
    name: str, encrypted: bool, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "WHOLE_S", 60.0)
    assert len(look_at_site(LARGE_SITES[name], tls if encrypted else None).body) <= 1 << 20


def test_probe_of_a_site_refuses_a_slow_handshake() -> None:
    late = pytest.raises(TargetTalksNonsense, match="answer takes longer than 1 s")
    with serving(trickle(HANDSHAKE)) as port, soon_and_small(), late:
        site.probe(SiteAddress("127.0.0.1", port, scheme="https"), TRUST)


# A directory.


def look(answer: Answer, scheme: str = "ldap") -> None:
    """Probe a directory with this answer, as every test does before its load."""
    start_tls = scheme == "starttls"
    with serving(answer) as port, soon_and_small():
        url = f"{'ldap' if start_tls else scheme}://127.0.0.1:{port}"
        directory.probe(parse_address(url, start_tls=start_tls), BASE, trust=TRUST)


def accepts_start_tls(connection: socket.socket) -> bool:
    """Return whether a client requested StartTLS; the first client only checks the port."""
    if (request := split(connection.recv(65_536))) is None:
        return False
    connection.sendall(message(request[0], EXTENDED + 1, result(0)))
    return True


def over(scheme: str, tls: ssl.SSLContext, answer: Answer) -> Answer:
    """Answer in cleartext, in TLS or, after an extended operation, in StartTLS."""

    def after_start_tls(connection: socket.socket, ended: threading.Event) -> None:
        if accepts_start_tls(connection):
            within(tls, answer)(connection, ended)

    return {"ldap": answer, "ldaps": within(tls, answer), "starttls": after_start_tls}[scheme]


@pytest.mark.parametrize("name", LATE_DIRECTORIES)
@pytest.mark.parametrize("scheme", ["ldap", "ldaps", "starttls"])
def test_probe_of_a_slow_directory_is_refused(name: str, scheme: str, tls: ssl.SSLContext) -> None:
    with pytest.raises(TargetTalksNonsense, match=r"answers? takes? longer than 1 s"):
        look(over(scheme, tls, LATE_DIRECTORIES[name]), scheme)


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        (name, scheme)
        for name in ENDLESS_DIRECTORIES
        for scheme in ("ldap", "ldaps")
        if (name, scheme) != MANY_IN_TLS
    ],
)
def test_endless_answer_of_a_directory_is_refused(
    name: str, scheme: str, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The answer is refused by its amount of data, not by its time.
    monkeypatch.setattr(directory, "WHOLE_S", 60.0)
    with pytest.raises(TargetTalksNonsense, match="does not answer as an LDAP server does"):
        look(over(scheme, tls, ENDLESS_DIRECTORIES[name]), scheme)


@pytest.mark.parametrize("scheme", ["ldaps", "starttls"])
def test_slow_tls_handshake_of_a_directory_is_refused(scheme: str) -> None:
    def answer(connection: socket.socket, ended: threading.Event) -> None:
        if scheme == "ldaps" or accepts_start_tls(connection):
            connection.recv(65_536)
            trickle(HANDSHAKE)(connection, ended)

    with pytest.raises(TargetTalksNonsense, match="answers take longer than 1 s"):
        look(answer, scheme)


def test_cleartext_before_tls_is_not_taken_as_answer(tls: ssl.SSLContext) -> None:
    def answer(connection: socket.socket, ended: threading.Event) -> None:
        if (request := split(connection.recv(65_536))) is not None:
            begun = message(b"\x02", BIND + 1, result(0))[:-1]
            connection.sendall(message(request[0], EXTENDED + 1, result(0)) + begun)
            within(tls, flood(b"\0"))(connection, ended)

    with pytest.raises(TargetTalksNonsense, match="more in the clear"):
        look(answer, "starttls")


def deep(number: bytes) -> bytes:
    tree = b""
    for _ in range(5_000):
        tree = tlv(0x30, tree)
    return tlv(0x30, tlv(2, number) + tree)


REFERRAL = b"\x0a\x01\x0a\x04\x00\x04\x00" + tlv(0xA3, tlv(4, b"ldap://127.0.0.1:1/o=x"))
"""A result that names another directory (RFC 4511 4.1.10)."""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (directory_that(deep), "does not answer as an LDAP server does: it is nested too deep"),
        (
            directory_that(lambda number: b"\x30\x80" + tlv(2, number) + b"\x61\x80" + bytes(4)),
            "does not answer as an LDAP server does: it sends a message that is not LDAP",
        ),
        (
            directory_that(lambda number: message(number, BIND + 1, REFERRAL), to=BIND),
            "refuses the bind of anonymous clients: referral",
        ),
    ],
)
def test_fault_of_a_directorys_answer_is_named(answer: Answer, said: str) -> None:
    with pytest.raises(SitebenchError, match=said):
        look(answer)


def lasting(port: int) -> contextlib.AbstractContextManager[Any]:
    """Connect like a command that seeds a directory."""
    opened: contextlib.AbstractContextManager[Any] = directory.connect(
        parse_address(f"ldap://127.0.0.1:{port}")
    )
    return opened


def slow(number: bytes, ended: threading.Event) -> bytes:
    ended.wait(0.6)
    return entry(number) + message(number, DONE, result(0))


def test_many_requests_may_take_longer_than_the_limit_of_one_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directory, "WHOLE_S", 2.5)

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        directory_that(lambda number: slow(number, ended))(connection, ended)

    with serving(answer) as port, lasting(port) as connection:
        for _ in range(5):
            assert directory.exists(connection, BASE)


def test_many_slow_answers_to_one_request_have_a_common_time_limit() -> None:
    late = pytest.raises(TargetTalksNonsense, match=r"answers? takes? longer than 1 s")
    with (
        serving(LATE_DIRECTORIES["entries now and then"]) as port,
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
def test_ctrl_c_ends_a_probe_at_once(half: str) -> None:
    scheme, answer = LATE[half]
    asked = threading.Event()

    def told(connection: socket.socket, ended: threading.Event) -> None:
        # The received bytes stay in the buffer.
        if connection.recv(1, socket.MSG_PEEK):
            asked.set()
            answer(connection, ended)

    with serving(told) as port:
        operation = "lookup" if half == "ils" else "page"
        argv = (half, "run", operation, "--target", f"{scheme}://127.0.0.1:{port}", *FEW)
        process = subprocess.Popen(
            [*SITEBENCH, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert asked.wait(left_s())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=left_s())
    assert process.returncode == 130
    assert out == ""
    assert err.startswith("interrupted; ")
    assert len(err.splitlines()) == 1
