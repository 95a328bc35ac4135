"""Connections of ldap3 with limits of bytes and time, which ldap3 lacks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ldap3
import msgspec
from ldap3.core.exceptions import LDAPException, LDAPSocketReceiveError
from ldap3.utils import asn1


class AnswerLimits(msgspec.Struct, frozen=True):
    silence_s: float
    """Time limit between two bytes."""
    whole_s: float
    """Time limit of an answer."""
    most_bytes: int = 256 << 10
    """Largest answer. A root DSE has a few thousand bytes. To decode an answer of the largest size
    takes 40 MB and up to 0.5 s of CPU, during which no time limit is checked.
    """
    most_messages: int = 1_000
    """Messages of one answer: entries, and references to other directories."""


_MESSAGES_PER_TURN = 100
"""Number of messages, decoded in some 5 ms, after which other greenlets run: if a socket always has
data, gevent sees neither timeouts nor signals."""
_AT_ONCE = 16_384
"""Size of a TLS record; its messages are decoded before the clock is checked."""
_LONGEST_HEAD = 2 + 127
"""Number of bytes of a tag and of the longest length field in BER (X.690 8.1.3.5)."""

# ldap3 itself cannot decode a referral (RFC 4511 4.1.9) in a result of bind or StartTLS.
for context in (asn1.BIND_RESPONSE_CONTEXT, asn1.EXTENDED_RESPONSE_CONTEXT):
    context.setdefault(3, asn1.decode_sequence)


class NonsenseError(Exception):
    """An answer that is not LDAP."""


class LateError(NonsenseError):
    """An answer that exceeds its time limit."""


def limited_connection(
    server: ldap3.Server,
    limits: AnswerLimits,
    over: Callable[[], bool] = lambda: False,
    **more: Any,
) -> Any:
    """Return a closed connection of ldap3 that reads within limits, and fails once `over` is true.

    Until the first answer, calls time out by the server's `connect_timeout`.
    """
    # A followed referral would send our password, and writes, to any machine.
    connection = ldap3.Connection(server, check_names=False, auto_referrals=False, **more)
    _Reading(connection, limits, over)
    return connection


class _Reading:
    def __init__(self, connection: Any, limits: AnswerLimits, over: Callable[[], bool]) -> None:
        self._connection, self._limits, self._over = connection, limits, over
        self._request: Any = None
        self._socket: Any = None
        self._unread = bytearray()
        strategy = connection.strategy
        self._size_of, self._answers = strategy.compute_ldap_message_size, strategy.get_response
        # ldap3 accepts built-in strategies only, so methods of the built-in strategy are replaced.
        strategy.receiving, strategy.get_response = self._receive, self._respond

    def _respond(self, *arguments: Any, **more: Any) -> Any:
        try:
            return self._answers(*arguments, **more)
        except (LDAPException, NonsenseError, OSError):
            raise
        except RecursionError as error:
            raise NonsenseError("it is nested too deep") from error
        # ldap3's parser raises various errors for bytes that are not LDAP.
        except Exception as error:
            raise NonsenseError("it sends a message that is not LDAP") from error

    def _receive(self) -> list[bytes]:
        """Return the next messages; none if the directory has closed the connection."""
        connection = self._connection
        if connection.request is not self._request:
            self._request = connection.request
            self._until = time.monotonic() + self._limits.whole_s
            self._bytes = self._messages = 0
        if connection.socket is not self._socket:
            if self._unread:
                raise NonsenseError("it sends more in the clear after it accepted StartTLS")
            self._socket = connection.socket
            self._socket.settimeout(self._limits.silence_s)
        while not (messages := self._whole()):
            if not (received := self._receive_bytes()):
                return []
            self._unread += received
        turns = self._messages // _MESSAGES_PER_TURN
        self._messages += len(messages)
        if self._messages > (limit := self._limits.most_messages):
            raise NonsenseError(f"it answers a request with over {limit:,} messages")
        if self._messages // _MESSAGES_PER_TURN > turns:
            time.sleep(0)
        return messages

    def _receive_bytes(self) -> bytes:
        if self._over() or time.monotonic() >= self._until:
            raise LateError(f"its answer takes longer than {self._limits.whole_s:g} s")
        try:
            received: bytes = self._socket.recv(_AT_ONCE)
        except OSError as error:
            raise LDAPSocketReceiveError(f"error receiving data: {error}") from error
        self._bytes += len(received)
        if self._bytes > (limit := self._limits.most_bytes):
            raise NonsenseError(f"it answers a request with over {limit:,} bytes")
        return received

    def _whole(self) -> list[bytes]:
        """Take complete messages out of the buffer, at most as many as one turn allows."""
        messages: list[bytes] = []
        begin = 0
        while len(messages) < _MESSAGES_PER_TURN:
            size = self._size_of(self._unread[begin : begin + _LONGEST_HEAD])
            if size > (limit := self._limits.most_bytes):
                raise NonsenseError(f"it answers with a message of over {limit:,} bytes")
            if size < 0 or begin + size > len(self._unread):
                break
            messages.append(bytes(self._unread[begin : begin + size]))
            begin += size
        del self._unread[:begin]
        return messages
