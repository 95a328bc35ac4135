"""nginx in a temporary folder: files, parsed pages, FastCGI, CGI through fcgiwrap, TLS."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from sitebench.system.child import serve
from web_bench.targets import started
from web_bench.targets.cgi import PATH as CGI
from web_bench.targets.started import Server, find

PROGRAMS = {
    "cgi-env": f"{CGI}?kind=simcgi",
    "cgi": f"{CGI}?kind={{content}}&size={{size}}",
    "page": "/dynamic/page.shtml",
    "fastcgi": "/dynamic/fastcgi?kind={content}&size={size}",
}
"""Paths of programs, by kind; nginx runs none in its own process."""

_CGI_AT_ONCE = 16
"""Number of CGI programs that fcgiwrap runs at a time; further requests wait in its socket."""

_PARAMETER = r'"(?:\\.|[^"\\])*"|' r"'(?:\\.|[^'\\])*'|(?:\\.|\$\{\w+\}|[^\\\"';{}#\s])+"
_VALUE = rf"(?:{_PARAMETER})(?: +(?:{_PARAMETER}))*"
"""A quoted parameter can contain every character; outside quotes, `;`, braces and `#` end a
directive."""
_FIXED = "  # The rest is needed as it is.\n"
_TLS = """\
    listen @host@:@secure@ ssl backlog=@backlog@;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
@client_ca@"""
_CLIENT_CA = """\
    ssl_client_certificate clients.pem;
    ssl_verify_client on;
"""


serving = functools.partial(started.serving, __name__)


def _argv(program: str, folder: Path) -> Sequence[str]:
    options = "daemon off; pid nginx.pid;"
    return [program, "-p", f"{folder}/", "-c", "nginx.conf", "-e", "error.log", "-g", options]


def _helpers(kinds: Collection[str]) -> Sequence[Sequence[str]]:
    stays = started.fastcgi(kinds)
    if not {"cgi", "cgi-env"} & {*kinds}:
        return stays
    fcgiwrap = find("fcgiwrap", "fcgiwrap")
    # fcgiwrap's own socket queues 511 connections only, fewer than the papers' 600 clients.
    return [[fcgiwrap, "-c", str(_CGI_AT_ONCE)], *stays]


SERVER = Server(
    "nginx",
    "nginx-light",
    started.read_file("nginx.conf"),
    _FIXED,
    "{name} {value};",
    _VALUE,
    PROGRAMS,
    _argv,
    _TLS,
    _CLIENT_CA,
    # If nginx runs as root, its workers by default change to a user that may not read the docroot.
    lambda _threads: {"user": "user root;\n" if os.geteuid() == 0 else ""},
    _helpers,
    {"access_log": "access.log common"},
    socket="cgi.sock",
)


if __name__ == "__main__":
    serve(lambda request: started.start(SERVER, request))
