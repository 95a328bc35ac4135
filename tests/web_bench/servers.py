"""Web servers of a docroot: nginx, Python's, and one that fails as a test wants."""

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from sitebench.system.network import free_port
from tests.support.programs import required_program
from tests.support.waiting import eventually
from tests.tls.certificates import Certificate

NGINX = """\
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  keepalive_requests {requests};
  types {{ text/html html; }}
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  log_format main "$connection $request";
  access_log {folder}/access.log main;
  server {{
    listen 127.0.0.1:{port}{secure};
    location /base/ {{ alias {docroot}/; }}
  }}
}}
"""


@contextlib.contextmanager
def nginx(
    docroot: Path, folder: Path, requests: int = 1_000, shown: Certificate | None = None
) -> Iterator[str]:
    """Yield the address below which nginx serves a docroot; its access log is in the folder."""
    folder.mkdir()
    port, secure = free_port(), ""
    if shown is not None:
        secure = f" ssl;\n    ssl_certificate {shown.cert};\n    ssl_certificate_key {shown.key}"
    (folder / "nginx.conf").write_text(
        NGINX.format(folder=folder, docroot=docroot, port=port, requests=requests, secure=secure)
    )
    argv = [str(required_program("nginx")), "-p", str(folder), "-e", str(folder / "error.log")]
    with subprocess.Popen([*argv, "-c", str(folder / "nginx.conf")]) as process:
        try:
            assert eventually((folder / "nginx.pid").exists)
            yield f"{'http' if shown is None else 'https'}://127.0.0.1:{port}/base"
        finally:
            process.terminate()


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
