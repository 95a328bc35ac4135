"""A scripted directory: answers each message (RFC 4511), on a thread for each connection."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

BIND, UNBIND, SEARCH, ADD, DELETE, COMPARE = 0x60, 0x42, 0x63, 0x68, 0x4A, 0x6E
ABANDON, EXTENDED = 0x50, 0x77
ENTRY, DONE, REFERENCE, INTERMEDIATE = 0x64, 0x65, 0x73, 0x79
COMPARE_TRUE, NO_SUCH_OBJECT, INSUFFICIENT_ACCESS, OTHER = 6, 32, 50, 80

Answer = Callable[[socket.socket, threading.Event], None]
"""Answers a connection, until it is closed or the event is set."""
Part = bytes | Answer


def tlv(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    length = bytes([size]) if size < 0x80 else b"\x84" + size.to_bytes(4, "big")
    return bytes([tag]) + length + content


def message(number: bytes, operation: int, content: bytes) -> bytes:
    return tlv(0x30, tlv(2, number), tlv(operation, content))


def result(code: int, words: bytes = b"") -> bytes:
    return tlv(0x0A, bytes([code])) + tlv(4) + tlv(4, words)


def response(number: bytes, operation: bytes, content: bytes) -> bytes:
    """Return the last message of an answer."""
    tags = {SEARCH: DONE, DELETE: 0x6B}
    return message(number, tags.get(operation[0], operation[0] + 1), content)


def entry(number: bytes, name: str, **attributes: str) -> bytes:
    pairs = (
        tlv(0x30, tlv(4, attribute.encode()), tlv(0x31, tlv(4, value.encode())))
        for attribute, value in attributes.items()
    )
    return message(number, ENTRY, tlv(4, name.encode()) + tlv(0x30, *pairs))


def split(received: bytes) -> tuple[bytes, bytes, bytes] | None:
    """Return number, operation and the bytes after the first message, if it is whole."""
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


@contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """Yield the port of 127.0.0.1 where each connection is answered."""
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
            for thread in threads:
                thread.join()


def directory(reply: Callable[[bytes, bytes], Iterable[Part]]) -> Answer:
    """Answer each message with the parts that `reply` returns for its number and operation."""

    def answer(connection: socket.socket, ended: threading.Event) -> None:
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
            while (first := split(received)) is not None:
                number, operation, received = first
                if operation[0] == UNBIND:
                    return
                for part in reply(number, operation):
                    if isinstance(part, bytes):
                        connection.sendall(part)
                    else:
                        part(connection, ended)

    return answer


@contextmanager
def refusing(base: str, words: str, code: int = INSUFFICIENT_ACCESS) -> Iterator[str]:
    """Yield the address of a directory whose answer to each add and delete is `words`."""

    def reply(number: bytes, operation: bytes) -> Iterator[bytes]:
        answer = result(code, words.encode()) if operation[0] in (ADD, DELETE) else result(0)
        if operation[0] == SEARCH:
            # A search of the base itself (RFC 4511 4.5.1: baseObject, then the scope).
            if tlv(4, base.encode()) + b"\x0a\x01\x00" in operation:
                yield entry(number, base)
            else:
                answer = result(NO_SUCH_OBJECT)
        yield response(number, operation, answer)

    with serving(directory(reply)) as port:
        yield f"ldap://127.0.0.1:{port}"
