"""A scripted web server: a handler answers, and the server counts connections and requests."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Keeps connections open, and records answered requests in the server."""

    protocol_version = "HTTP/1.1"
    # Head and body are two writes: the second write would wait for the client's delayed ACK.
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def get(self) -> None:
        self.reply()

    def post(self) -> None:
        """Answer a POST like a GET, unless a test overrides this."""
        self.get()

    def log_request(self, *_: object) -> None:
        self.server.requests.append(self.requestline.rpartition(" ")[0])

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def content(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(
        self, body: bytes = b"", status: int = 200, reason: str | None = None, **headers: str
    ) -> None:
        self.send_response(status, reason)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """A server on a free port of 127.0.0.1."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: Callable[..., BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.connections = 0
        self.requests: list[str] = []
        """Method and path of each answered request."""
        self.over = threading.Event()
        """Set when the test is done with it: a handler that never answers waits for that."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def process_request(self, request: object, client_address: object) -> None:
        self.connections += 1
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect."""


@contextmanager
def serving(
    handler: Callable[..., BaseHTTPRequestHandler], tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """Yield a server that answers with a handler, over TLS if there is a context."""
    with Server(handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


@contextmanager
def page(body: bytes, status: int = 200) -> Iterator[Server]:
    """Yield a server that answers every request with one page."""

    class Page(Handler):
        def get(self) -> None:
            self.content()
            self.reply(body, status)

    with serving(Page) as server:
        yield server


@contextmanager
def other_site() -> Iterator[tuple[str, list[str]]]:
    """Yield the URL of a site without the suite's pages, and a list of all its requests."""
    with page(b"<h1>Shop</h1>") as server:
        yield server.url, server.requests


@contextmanager
def silent_site() -> Iterator[str]:
    """Yield the address of a site that answers requests only for its front page."""

    class Silent(Handler):
        def get(self) -> None:
            if self.path != "/":
                self.server.over.wait()
                self.close_connection = True
            else:
                self.reply()

    with serving(Silent) as server:
        yield server.url
