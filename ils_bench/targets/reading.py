"""Receiving for a connection of ldap3, which itself reads as much, and as long, as it is sent."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ldap3.core.exceptions import LDAPException, LDAPSocketReceiveError

from sitebench.targets.tls import short

_MOST_BYTES = 256 << 10
"""In the answers to a request: names and the root DSE have a few thousand. What ldap3 makes of so
many takes it up to half a second of CPU, in which no clock is looked at, and 40 MB."""
_MOST_MESSAGES = 1_000
"""In the answers to a request: an entry, and references to other directories."""
_AT_ONCE = 16_384
"""As much as a record of TLS holds; its messages are decoded before the clock is looked at."""
_LONGEST_HEAD = 2 + 127
"""Tag, and a length in as many bytes as BER can have (X.690 8.1.3.5)."""


class NonsenseError(Exception):
    """Something that no directory answers."""


class Reading:
    """Receives the answers to one request after the other, each within limits."""

    def __init__(self, connection: Any, answer_s: float, over: Callable[[], bool]) -> None:
        self._connection, self._answer_s, self._over = connection, answer_s, over
        self._request: Any = None
        self._socket: Any = None
        self._unread = bytearray()
        strategy = connection.strategy
        self._size_of, self._answers = strategy.compute_ldap_message_size, strategy.get_response
        # ldap3 has no other way in: a strategy is chosen by name.
        strategy.receiving, strategy.get_response = self._receive, self._respond

    def _respond(self, *arguments: Any, **more: Any) -> Any:
        try:
            return self._answers(*arguments, **more)
        except (LDAPException, NonsenseError):
            raise
        # ldap3's parser may raise anything on bytes that are not LDAP.
        except Exception as error:
            raise NonsenseError(short(error)) from error

    def _receive(self) -> list[bytes]:
        """Return the next messages; none if the directory has closed the connection."""
        connection = self._connection
        if connection.request is not self._request:
            self._request = connection.request
            self._until = time.monotonic() + self._answer_s
            self._bytes = self._messages = 0
        if connection.socket is not self._socket:
            if self._unread:
                raise NonsenseError("it sends more in the clear after it accepted StartTLS")
            self._socket = connection.socket
        while not (found := self._whole()):
            if not (received := self._received()):
                return []
            self._unread += received
        self._messages += len(found)
        if self._messages > _MOST_MESSAGES:
            raise NonsenseError(f"it answers a request with over {_MOST_MESSAGES:,} messages")
        return found

    def _received(self) -> bytes:
        if self._over() or time.monotonic() >= self._until:
            raise NonsenseError(f"its answer takes longer than {self._answer_s:g} s")
        try:
            received: bytes = self._socket.recv(_AT_ONCE)
        except OSError as error:
            raise LDAPSocketReceiveError(f"error receiving data: {error}") from error
        self._bytes += len(received)
        if self._bytes > _MOST_BYTES:
            raise NonsenseError(f"it answers a request with over {_MOST_BYTES:,} bytes")
        return received

    def _whole(self) -> list[bytes]:
        """Take out the messages that are there as a whole."""
        found: list[bytes] = []
        begin = 0
        while True:
            size = self._size_of(self._unread[begin : begin + _LONGEST_HEAD])
            if size > _MOST_BYTES:
                raise NonsenseError(f"it answers with a message of over {_MOST_BYTES:,} bytes")
            if size < 0 or begin + size > len(self._unread):
                del self._unread[:begin]
                return found
            found.append(bytes(self._unread[begin : begin + size]))
            begin += size
