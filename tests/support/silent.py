"""Servers that answer when they are looked at, and never again."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.relay import relayed

_SMALL = 300
"""Bytes of an answer to a probe, which asks for no attributes: a person's are 1,283."""


@contextmanager
def silent_directory(port: int) -> Iterator[str]:
    """Yield the address of a directory, at `port`, that binds and finds but shows no person."""

    def way(piece: bytes, client: socket.socket) -> None:
        if len(piece) <= _SMALL:
            client.sendall(piece)

    with relayed(port, way) as before:
        yield f"ldap://127.0.0.1:{before}"


@contextmanager
def silent_site() -> Iterator[str]:
    """Yield the address of a site that has a front page, and answers no other request."""
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/":
                over.wait()
            with contextlib.suppress(OSError):
                self.send_response(200)
                self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()
            thread.join()
