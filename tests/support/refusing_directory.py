"""A directory that has its base, and refuses every add, or more, in words of its own."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

BIND, SEARCH, UNBIND, ADD, DELETE = 0x60, 0x63, 0x42, 0x68, 0x4A
NO_SUCH_OBJECT, INSUFFICIENT_ACCESS, OTHER = 32, 50, 80
_ANSWERS = {DELETE: 0x6B}
"""By request, where the answer is not the next tag (RFC 4511 4.8)."""


def tlv(tag: int, content: bytes) -> bytes:
    size = len(content)
    length = bytes([size]) if size < 0x80 else b"\x84" + size.to_bytes(4, "big")
    return bytes([tag]) + length + content


def message(number: bytes, operation: int, content: bytes) -> bytes:
    return tlv(0x30, tlv(2, number) + tlv(operation, content))


def result(code: int, words: bytes = b"") -> bytes:
    return tlv(0x0A, bytes([code])) + tlv(4, b"") + tlv(4, words)


def split(received: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return number, operation and what follows the first message, if it is whole."""
    if len(received) < 2:
        return None
    size, head = received[1], 2
    if size & 0x80:
        head += size & 0x7F
        size = int.from_bytes(received[2:head], "big")
    if len(received) < head + size:
        return None
    body, rest = received[head : head + size], received[head + size :]
    return body[2 : 2 + body[1]], body[2 + body[1] :], rest


def answer(number: bytes, operation: bytes, base: bytes, refusal: bytes) -> bytes:
    if operation[0] == SEARCH:
        # A search of the base itself (RFC 4511 4.5.1: baseObject, then the scope).
        if tlv(4, base) + b"\x0a\x01\x00" not in operation:
            return message(number, 0x65, result(NO_SUCH_OBJECT))
        entry = message(number, 0x64, tlv(4, base) + tlv(0x30, b""))
        return entry + message(number, 0x65, result(0))
    tag = _ANSWERS.get(operation[0], operation[0] + 1)
    return message(number, tag, refusal if operation[0] in (ADD, DELETE) else result(0))


@contextmanager
def refusing(base: str, words: str, code: int = INSUFFICIENT_ACCESS) -> Iterator[str]:
    """Yield its address; `words` are its answer to each add and delete."""
    refusal = result(code, words.encode())

    def serve(connection: socket.socket) -> None:
        received = b""
        with connection, contextlib.suppress(ConnectionError):
            while part := connection.recv(65_536):
                received += part
                while (first := split(received)) is not None:
                    number, operation, received = first
                    if operation[0] == UNBIND:
                        return
                    connection.sendall(answer(number, operation, base.encode(), refusal))

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"ldap://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
