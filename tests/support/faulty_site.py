"""A site of this repository with one planted fault between it and its clients."""

from __future__ import annotations

import http.client
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from sitebench.http.address import SiteAddress
from tests.support.http_server import Handler, serving


@dataclass(frozen=True)
class Asked:
    """A request on its way to the site."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def user(self) -> int | None:
        found = re.search(r"user=(\d+)", self.headers.get("Cookie", ""))
        return None if found is None else int(found[1])

    @property
    def is_page(self) -> bool:
        """Whether it requests a person's page."""
        return self.method == "GET" and self.path == "/" and self.user is not None


@dataclass(frozen=True)
class Answer:
    """An answer on its way back; `says` overrides Content-Length, `cut` ends the answer early."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    says: int | None = None
    cut: bool = False


Ask = Callable[[Asked], Answer]
Fault = Callable[[Asked, Ask], Answer | None]
"""Answers a request, with or without the site behind it; None is no answer."""


@contextmanager
def faulty(
    site: SiteAddress, fault: Fault, tls: ssl.SSLContext | None = None
) -> Iterator[SiteAddress]:
    """Yield the address of a site with a fault, over TLS if there is a context."""

    def ask(asked: Asked) -> Answer:
        with closing(http.client.HTTPConnection(site.host, site.port, timeout=10)) as connection:
            connection.request(asked.method, asked.path, asked.body or None, asked.headers)
            reply = connection.getresponse()
            names = ("set-cookie", "content-type", "location")
            headers = tuple(pair for pair in reply.getheaders() if pair[0].lower() in names)
            return Answer(reply.status, headers, reply.read())

    class Faulty(Handler):
        timeout = 20

        def get(self) -> None:
            asked = Asked(self.command, self.path, dict(self.headers), self.content())
            answer = fault(asked, ask)
            if answer is None:
                self.server.over.wait(20)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            if answer.status != 204:
                length = len(answer.body) if answer.says is None else answer.says
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.cut:
                self.close_connection = True

    with serving(Faulty, tls) as server:
        scheme = "http" if tls is None else "https"
        yield SiteAddress("127.0.0.1", server.server_port, scheme=scheme)
