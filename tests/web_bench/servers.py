"""Web servers of a docroot: nginx, Python's, and one that fails as a test wants."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sitebench.targets.tls import ServerTls
from tests.support.programs import required_program
from tests.tls.certificates import Certificate
from web_bench.targets.nginx import serving as serving_by_nginx


@contextlib.contextmanager
def nginx(
    docroot: Path, folder: Path, requests: int = 1_000, shown: Certificate | None = None
) -> Iterator[str]:
    """Yield the address below which nginx serves a docroot; its access log is in the folder."""
    required_program("nginx")
    (folder / "www").mkdir(parents=True)
    (folder / "www/base").symlink_to(docroot)
    tls = None if shown is None else ServerTls(shown.cert, shown.key)
    log = f'"{folder / "access.log"}" combined'
    directives = {"access_log": log, "keepalive_requests": str(requests)}
    with serving_by_nginx(folder / "www", tls=tls, directives=directives, kinds=()) as started:
        yield f"{started.secure or started.address}/base"


class Server(ThreadingHTTPServer):
    """Counts its connections."""

    daemon_threads = True
    request_queue_size = 128
    connections = 0

    def process_request(self, request: object, client_address: object) -> None:
        self.connections += 1
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that go away."""


@contextlib.contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[Server]:
    """Yield a server that answers with a handler."""
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def python_server(docroot: Path, version: str) -> contextlib.AbstractContextManager[Server]:
    """Python's own server of files, in HTTP/1.0 or HTTP/1.1."""

    class Quiet(SimpleHTTPRequestHandler):
        protocol_version = version
        # Head and body are two writes: the second would wait for the client's delayed ACK.
        disable_nagle_algorithm = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    return serving(partial(Quiet, directory=str(docroot)))


Answer = Callable[[BaseHTTPRequestHandler, bytes], object]
"""Answers a request for a file with this content."""


def right(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Answer as a server should."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def failing(docroot: Path, answers: dict[str, Answer]) -> contextlib.AbstractContextManager[Server]:
    """Serve a docroot over HTTP/1.1, and answer some paths in other ways."""

    class Failing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            path = docroot / self.path[1:]
            content = path.read_bytes() if path.is_file() else b""
            answers.get(self.path, right)(self, content)

    return serving(Failing)
