"""A directory and a site of known behaviour, which log every request: the truth of `tests.truth`.

    python -m tests.truth.server [CERTIFICATE KEY]

Reads commands from standard input, a line of JSON each, and writes one line in answer:

    {"open": "ldap", "answer_s": 0.1, "unanswered_every": 97, "tls": false}   {"port": 40001}
    {"port": 40001, "stall_ns": [BEGIN, END], "reset_ns": AT}                 {}
    {"close": 40001}                                  {"requests": [REQUEST, ...], "binds": 20}

Each port is a separate target. Times are those of CLOCK_MONOTONIC, which all processes share.
A request is `[earliest_ns, arrived_ns, answered_ns, connection, kind, key]`. It was read at
`arrived_ns`, and had not arrived at `earliest_ns`; the two differ if the server lacked CPU.
`answered_ns` is taken before the answer is written. It is 0 if no answer was written, and
if the connection was reset instead, the negative time of the reset. The key is made unique by the
scenario's text: the first value of a filter, the first value of a DN, or a path.

A request whose key has `.quick.` in it takes no time. What commands ask a target before a load (the
root DSE, an entry by its name, the front page) is answered at once and is not in the log. Nor are
binds with other names than those of steps: they are counted. This module imports nothing of
sitebench.
"""

from __future__ import annotations

import asyncio
import json
import os
import selectors
import socket
import ssl
import struct
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from tests.support.ldap_server import COMPARE_TRUE, EXTENDED, UNBIND, entry, response, result, split

NEVER = 0
QUICK = ".quick."
"""Part of the key of a request that takes no time, and is always answered."""
_ANSWERED = 2
"""The index of the time of the answer in a request."""

_KINDS = {0x60: "bind", 0x63: "search", 0x66: "modify", 0x68: "add", 0x4A: "delete"}
_KINDS |= {0x6C: "modify_dn", 0x6E: "compare", EXTENDED: "extended"}


class _Selector(selectors.DefaultSelector):
    """Records the times of its last events: a later event arrived after them."""

    def __init__(self) -> None:
        super().__init__()
        # Three rounds pass between the event of a connection and the read.
        self._found_ns = deque([0, 0], maxlen=5)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout)
        self._found_ns.append(time.monotonic_ns())
        return ready

    @property
    def before_ns(self) -> int:
        return self._found_ns[-2]

    @property
    def long_before_ns(self) -> int:
        return self._found_ns[0]


_SELECTOR = _Selector()


@dataclass
class Target:
    """The answers of a port, and its received requests."""

    protocol: str
    answer_s: float
    unanswered_every: int
    stall_ns: tuple[int, int] = (0, 0)
    """Between these times the target is idle and does not answer."""
    reset_ns: int = 0
    """The connection of the first request after this time is reset."""
    requests: list[list[Any]] = field(default_factory=list)
    quick: int = 0
    binds: int = 0
    connections: int = 0
    open: set[_Connection] = field(default_factory=set)

    def arrived(self, connection: _Connection, kind: str, key: str, answer: bytes) -> None:
        """Receive a request, and answer it when due."""
        now = time.monotonic_ns()
        earliest_ns = min(_SELECTOR.before_ns, connection.unread_since_ns)
        connection.unread_since_ns = sys.maxsize
        request: list[Any] = [earliest_ns, now, NEVER, connection.number, kind, key]
        self.requests.append(request)
        if QUICK in key:
            self.quick += 1
            connection.pending[id(request)] = request
            connection.answer_at(self._due_ns(now, 0.0), request, answer)
            return
        if self.reset_ns and now >= self.reset_ns:
            self.reset_ns = 0
            connection.pending[id(request)] = request
            connection.reset()
            return
        if connection.is_reset:
            request[_ANSWERED] = -now
            return
        number = len(self.requests) - self.quick
        if self.unanswered_every and number % self.unanswered_every == 0:
            connection.unanswered.append(request)
            return
        connection.pending[id(request)] = request
        connection.answer_at(self._due_ns(now, self.answer_s), request, answer)

    def _due_ns(self, arrived_ns: int, work_s: float) -> int:
        begin_ns, end_ns = self.stall_ns
        work_ns = round(work_s * 1e9)
        if begin_ns <= arrived_ns < end_ns:
            return end_ns + work_ns
        due_ns = arrived_ns + work_ns
        return end_ns if begin_ns <= due_ns < end_ns else due_ns


class _Connection(asyncio.Protocol):
    """A client's connection; the subclass of its protocol parses the input."""

    def __init__(self, target: Target) -> None:
        self.target = target
        target.connections += 1
        self.number = target.connections
        self.pending: dict[int, list[Any]] = {}
        self.unanswered: list[list[Any]] = []
        self.is_reset = False
        self.unread_since_ns = 0
        """Of one from which nothing was read yet: it did not stand then."""
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.unread_since_ns = _SELECTOR.long_before_ns
        self.target.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.target.open.discard(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._transport is not None and (length := self.length(self._buffer)):
            message, self._buffer = self._buffer[:length], self._buffer[length:]
            self.message(message)

    def length(self, buffer: bytes) -> int:
        """Return the length of the first message; 0 if it is incomplete."""
        raise NotImplementedError

    def message(self, message: bytes) -> None:
        raise NotImplementedError

    def answer_at(self, due_ns: int, request: list[Any], answer: bytes) -> None:
        loop = asyncio.get_running_loop()
        loop.call_at(due_ns / 1e9, self._answer, request, answer)

    def _answer(self, request: list[Any], answer: bytes) -> None:
        # A stall that was set after the request had arrived.
        now, (begin_ns, end_ns) = time.monotonic_ns(), self.target.stall_ns
        if begin_ns <= now < end_ns:
            self.answer_at(end_ns, request, answer)
            return
        if self.pending.pop(id(request), None) is not None and self._transport is not None:
            request[_ANSWERED] = now
            self.write(answer)

    def write(self, answer: bytes) -> None:
        if self._transport is not None:
            self._transport.write(answer)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Reset the connection: none of its requests will be answered."""
        for request in (*self.pending.values(), *self.unanswered):
            request[_ANSWERED] = -time.monotonic_ns()
        self.pending.clear()
        self.is_reset = True
        if self._transport is None:
            return
        own = self._transport.get_extra_info("socket")
        if self._transport.get_extra_info("sslcontext") is None:
            # Requests that have arrived are in the log, too.
            with socket.socket(fileno=os.dup(own.fileno())) as more, suppress(BlockingIOError):
                self._buffer += more.recv(1 << 16)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()


def _read(text: bytes, at: int = 0) -> tuple[int, bytes, int]:
    """Return tag and value of the element at an offset, and its end."""
    tag, size, at = text[at], text[at + 1], at + 2
    if size & 0x80:
        octets = size & 0x7F
        size, at = int.from_bytes(text[at : at + octets], "big"), at + octets
    return tag, text[at : at + size], at + size


def _first_value(tag: int, value: bytes) -> str:
    """Return the first value in a filter; for a presence filter, the attribute."""
    while tag in (0xA0, 0xA1, 0xA2):
        tag, value, _ = _read(value)
    if tag == 0x87:
        return value.decode()
    _, _, at = _read(value)
    return _read(value, at)[1].decode()


def _first_rdn(dn: bytes) -> str:
    return dn.decode().partition(",")[0].rpartition("=")[2]


class _LdapConnection(_Connection):
    """Answers rightly (RFC 4511): an entry for every search, compareTrue, success."""

    def length(self, buffer: bytes) -> int:
        first = split(buffer)
        return 0 if first is None else len(buffer) - len(first[2])

    def message(self, message: bytes) -> None:
        first = split(message)
        assert first is not None
        number, operation, _ = first
        tag, value, _ = _read(operation)
        if tag == UNBIND:
            self.close()
            return
        kind = _KINDS[tag]
        code, answer, probed = 0, b"", False
        if kind == "search":
            _, base, at = _read(value)
            _, scope, at = _read(value, at)
            for _ in range(4):
                _, _, at = _read(value, at)
            filter_tag, filter_value, _ = _read(value, at)
            key = _first_value(filter_tag, filter_value)
            probed = scope == b"\0" and filter_tag == 0x87
            if probed and not base:
                root = {"supportedLDAPVersion": "3", "namingContexts": "o=truth"}
                answer = entry(number, "", vendorName="it", **root)
            elif probed:
                answer = entry(number, base.decode(), objectClass="organization")
            else:
                answer = entry(number, f"uid={key},o=truth", uid=key, mail=f"{key}.captured")
        elif kind in ("modify", "add", "modify_dn", "compare"):
            key = _first_rdn(_read(value)[1])
            code = COMPARE_TRUE if kind == "compare" else 0
        elif kind == "delete":
            key = _first_rdn(value)
        elif kind == "bind":
            _, _, at = _read(value)
            key = _first_rdn(_read(value, at)[1])
            probed = not key
            self.target.binds += probed
        else:
            key, probed = "", True
        answer += response(number, operation, result(code))
        if probed:
            self.write(answer)
        else:
            self.target.arrived(self, kind, key, answer)


class _HttpConnection(_Connection):
    """Answers every request with a small page that contains the path."""

    def length(self, buffer: bytes) -> int:
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            return 0
        size = end + 4
        for line in buffer[:end].lower().split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name == b"content-length":
                size += int(value)
        return size if len(buffer) >= size else 0

    def message(self, message: bytes) -> None:
        head = message.partition(b"\r\n\r\n")[0].decode()
        kind, path, version = head.partition("\r\n")[0].split(" ")
        lower = head.lower()
        closes = "connection: close" in lower or (
            version == "HTTP/1.0" and "connection: keep-alive" not in lower
        )
        key = path.strip("/")
        page = f"<p>page={key}.captured;</p>".encode()
        said = "close" if closes else "keep-alive"
        answer = (
            f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n"
            f"Connection: {said}\r\n\r\n"
        ).encode() + page
        self._closes = closes
        if key:
            self.target.arrived(self, kind, key, answer)
        else:
            self.write(answer)

    def write(self, answer: bytes) -> None:
        super().write(answer)
        if self._closes:
            self.close()


_PROTOCOLS: dict[str, type[_Connection]] = {"ldap": _LdapConnection, "http": _HttpConnection}


class Server:
    """Opens and closes targets by commands."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        self._targets: dict[int, tuple[Target, asyncio.Server]] = {}

    async def obey(self, command: dict[str, Any]) -> dict[str, Any]:
        if "open" in command:
            target = Target(command["open"], command["answer_s"], command["unanswered_every"])
            context = self._context if command.get("tls") else None
            connected = partial(_PROTOCOLS[target.protocol], target)
            listener = await asyncio.get_running_loop().create_server(
                connected, "127.0.0.1", 0, backlog=1024, ssl=context
            )
            port = listener.sockets[0].getsockname()[1]
            self._targets[port] = target, listener
            return {"port": port}
        if "close" in command:
            target, listener = self._targets.pop(command["close"])
            listener.close()
            for connection in list(target.open):
                connection.close()
            return {"requests": target.requests, "binds": target.binds}
        target, _ = self._targets[command["port"]]
        target.stall_ns = tuple(command.get("stall_ns", target.stall_ns))
        target.reset_ns = command.get("reset_ns", target.reset_ns)
        return {}


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    # An answer is sent exactly when due, not before.
    loop._clock_resolution = 1e-5  # type: ignore[attr-defined]
    context = None
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = Server(context)
    commands = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        print(json.dumps(await server.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_SELECTOR)) as runner:
        runner.run(_serve())
