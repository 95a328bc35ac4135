"""A web site as an open target, and the probe for an answer."""

from __future__ import annotations

import contextlib
import functools
import http.client
import io
import socket
import ssl
from dataclasses import dataclass
from typing import Any

import msgspec

from sitebench.errors import BadInput, TargetTalksNonsense
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.options import SiteOptions
from sitebench.measure.diagnosis import unreachable
from sitebench.targets.deadline import Deadline
from sitebench.targets.limits import refuse_limits
from sitebench.targets.open_target import OpenTarget
from sitebench.targets.tls import SYSTEM, Trust, short, tls_failed

WHOLE_S = 10.0
"""Time limit of a probe."""
_ANSWER_S = 5.0
"""Time limit of each read."""
_MOST_BYTES = 1 << 20
"""Largest number of bytes that are read of a page and its head."""


class Page(msgspec.Struct, frozen=True):
    status: int
    reason: str
    server: str | None
    location: str | None
    body: bytes


def probe(address: SiteAddress, trust: Trust = SYSTEM, path: str = "/") -> Page:
    """Return a page of a site, whatever its status; raise if no answer in HTTP comes."""
    context = trust.context() if address.is_encrypted else None
    connection: http.client.HTTPConnection
    if context is None:
        connection = http.client.HTTPConnection(address.host, address.port)
    else:
        connection = http.client.HTTPSConnection(address.host, address.port, context=context)
    with Deadline(WHOLE_S) as deadline, contextlib.closing(connection):
        connection.response_class = functools.partial(  # type: ignore[assignment]
            _Answer, deadline=deadline
        )
        _connect(connection, address, context, deadline)
        try:
            connection.request("GET", f"{address.base_path}{path}", headers={"Connection": "close"})
            # The connection stays open until the answer is read to its end or closed.
            with connection.getresponse() as answer:
                try:
                    body = answer.read(_MOST_BYTES)
                except http.client.IncompleteRead as cut:
                    body = cut.partial
            if deadline.is_over:
                raise _late(address, deadline)
            return Page(
                answer.status,
                answer.reason,
                answer.getheader("Server"),
                answer.getheader("Location"),
                body,
            )
        # A length in the answer can be too large for a number, or for the memory.
        except (OSError, http.client.HTTPException, MemoryError, OverflowError) as error:
            if deadline.is_over:
                raise _late(address, deadline) from error
            reason = "no answer" if isinstance(error, TimeoutError) else short(error)
            raise tls_failed(address, error) or _nonsense(address, reason) from error


class _Received(io.RawIOBase):
    """The bytes of a connection; reads end after `_MOST_BYTES`, and raise after the deadline."""

    def __init__(self, raw: io.RawIOBase, deadline: Deadline) -> None:
        self._raw, self._deadline, self.budget = raw, deadline, _MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._deadline.is_over:
            raise TimeoutError
        if not self.budget:
            return 0
        received = self._raw.readinto(memoryview(buffer)[: self.budget])
        self.budget -= received or 0
        return received

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer whose head, and provisional answers before it, are read within the limits too."""

    def __init__(self, *arguments: Any, deadline: Deadline, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._received = _Received(self.fp.detach(), deadline)
        self.fp = io.BufferedReader(self._received)

    def begin(self) -> None:
        try:
            super().begin()
        except http.client.HTTPException as error:
            if self._received.budget:
                raise
            message = f"over {_MOST_BYTES:,} bytes before its answer's body"
            raise http.client.HTTPException(message) from error


def _late(address: SiteAddress, deadline: Deadline) -> TargetTalksNonsense:
    return _nonsense(address, f"its answer takes longer than {deadline.seconds:g} s")


def _nonsense(address: SiteAddress, reason: str) -> TargetTalksNonsense:
    return TargetTalksNonsense(
        f"{address} does not answer as a web server does: {reason}",
        "check host and port, whether the scheme is http or https, and that the site is not "
        "overloaded",
    )


def _connect(
    connection: http.client.HTTPConnection,
    address: SiteAddress,
    context: ssl.SSLContext | None,
    deadline: Deadline,
) -> None:
    try:
        endpoint = (address.host, address.port)
        connection.sock = socket.create_connection(endpoint, deadline.remaining(_ANSWER_S))
        deadline.watch(connection.sock)
        if context is not None:
            connection.sock = context.wrap_socket(connection.sock, server_hostname=address.host)
    except OSError as error:
        if deadline.is_over:
            raise _late(address, deadline) from error
        raise tls_failed(address, error) or unreachable(address, error, "site") from error


@dataclass(frozen=True)
class OpenSite(OpenTarget[SiteAddress]):
    def probe(self) -> Page:
        return probe(self.address, self.trust)


def open_live(options: SiteOptions) -> OpenSite:
    refuse_limits(options.target, options.target_limits)
    if options.access_log:
        raise BadInput(
            "--access-log applies only to a server that sitebench starts",
            "leave --access-log out, and turn on the log of your server",
        )
    address, trust = parse_address(options.target), Trust.from_options(options)
    server = probe(address, trust).server
    facts = {} if server is None else {"server": server}
    return OpenSite("the site", address, facts=facts, trust=trust, ca=options.tls_ca)
