"""Web servers of a docroot: nginx, Python's, and one with planned failures."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

from sitebench.targets.tls import ServerTls
from tests.support.http_server import Handler, Server, serving
from tests.support.programs import required_program
from tests.tls.certificates import Certificate
from web_bench.targets.nginx import serving as serving_by_nginx


@contextlib.contextmanager
def nginx(
    docroot: Path, folder: Path, requests: int = 1_000, shown: Certificate | None = None
) -> Iterator[str]:
    """Yield the address of a docroot in nginx; the folder has its access log."""
    required_program("nginx")
    (folder / "www").mkdir(parents=True)
    (folder / "www/base").symlink_to(docroot)
    tls = None if shown is None else ServerTls(shown.cert, shown.key)
    log = f'"{folder / "access.log"}" combined'
    directives = {"access_log": log, "keepalive_requests": str(requests)}
    with serving_by_nginx(folder / "www", tls=tls, directives=directives, kinds=()) as started:
        yield f"{started.secure or started.address}/base"


def python_server(docroot: Path, version: str) -> contextlib.AbstractContextManager[Server]:
    """Python's own file server, in HTTP/1.0 or HTTP/1.1."""

    class Quiet(SimpleHTTPRequestHandler, Handler):
        protocol_version = version

    return serving(partial(Quiet, directory=str(docroot)))


Answer = Callable[[Handler, bytes], object]
"""Answers a request for a file with this content."""


def failing(docroot: Path, answers: dict[str, Answer]) -> contextlib.AbstractContextManager[Server]:
    """Serve a docroot over HTTP/1.1, and answer some paths differently."""

    class Failing(Handler):
        def get(self) -> None:
            path = docroot / self.path[1:]
            content = path.read_bytes() if path.is_file() else b""
            answers.get(self.path, Handler.reply)(self, content)

    return serving(Failing)
