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
"""Path of each dynamic kind; nginx runs nothing in its own process."""

_CGI_AT_ONCE = 16
"""fcgiwrap has a process for each CGI program that runs; further requests wait in its socket."""

_PARAMETER = r'"(?:\\.|[^"\\])*"|' r"'(?:\\.|[^'\\])*'|(?:\\.|\$\{\w+\}|[^\\\"';{}#\s])+"
_VALUE = rf"(?:{_PARAMETER})(?: +(?:{_PARAMETER}))*"
"""Quotes count where a parameter begins; elsewhere `;`, a brace or a comment ends the directive."""
_FIXED = "  # The rest is needed as it is.\n"
_TEMPLATE = """\
# nginx as sitebench starts it; all paths are below a temporary folder.
@user@worker_processes @threads@;

events {
  worker_connections @connections@;
  accept_mutex off;
  multi_accept off;
}

http {
  log_format common '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent';
  access_log off;

  # Files go from the page cache to the socket, the head in the same packets, and stay open.
  sendfile on;
  tcp_nopush on;
  open_file_cache max=@files@;

  # A connection ends when its client wants it to.
  keepalive_timeout 1h;
  keepalive_requests 1000000000;

  gzip off;
  # What a program writes faster than the client reads it waits in memory.
  fastcgi_max_temp_file_size 0;

  # The rest is needed as it is.
  types {
    text/html html shtml;
    text/css css;
    text/javascript js;
    text/plain txt;
    application/json json;
    image/gif gif;
    image/jpeg jpg jpeg;
    image/png png;
    image/svg+xml svg;
  }
  client_body_temp_path body;
  fastcgi_temp_path fastcgi;
  proxy_temp_path proxy;
  scgi_temp_path scgi;
  uwsgi_temp_path uwsgi;

  # RFC 3875 section 4.1, for both kinds of programs.
  fastcgi_param GATEWAY_INTERFACE CGI/1.1;
  fastcgi_param SERVER_SOFTWARE nginx/$nginx_version;
  fastcgi_param SERVER_PROTOCOL $server_protocol;
  fastcgi_param SERVER_NAME $server_name;
  fastcgi_param SERVER_ADDR $server_addr;
  fastcgi_param SERVER_PORT $server_port;
  fastcgi_param HTTPS $https if_not_empty;
  fastcgi_param REQUEST_METHOD $request_method;
  fastcgi_param REQUEST_URI $request_uri;
  fastcgi_param QUERY_STRING $query_string;
  fastcgi_param CONTENT_TYPE $content_type;
  fastcgi_param CONTENT_LENGTH $content_length;
  fastcgi_param REMOTE_ADDR $remote_addr;
  fastcgi_param REMOTE_PORT $remote_port;
  fastcgi_param DOCUMENT_ROOT $document_root;
  fastcgi_param SCRIPT_NAME $fastcgi_script_name;
  fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;

  upstream fastcgi {
    server unix:fastcgi.sock;
    keepalive 64;
  }

  server {
    server_name localhost;
    listen @host@:@port@ backlog=@backlog@;
@tls@    root docroot;
    location ~ \\.shtml$ {
      ssi on;
    }
    location = /dynamic/page.shtml {
      root pages;
      ssi on;
    }
    location = /dynamic/fastcgi {
      fastcgi_pass fastcgi;
      fastcgi_keep_conn on;
    }
    # A process for each request, by fcgiwrap.
    location /cgi-bin/ {
      root programs;
      fastcgi_pass unix:cgi.sock;
    }
  }
}
"""
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
    # Its own socket, of which only 511 connections may wait, would refuse the papers' 600 clients.
    return [[fcgiwrap, "-c", str(_CGI_AT_ONCE)], *stays]


SERVER = Server(
    "nginx",
    "nginx-light",
    _TEMPLATE,
    _FIXED,
    "{name} {value};",
    _VALUE,
    PROGRAMS,
    _argv,
    _TLS,
    _CLIENT_CA,
    # Without it root's workers become another user, who may not be able to read the docroot.
    lambda _threads: {"user": "user root;\n" if os.geteuid() == 0 else ""},
    _helpers,
    {"access_log": "access.log common"},
    socket="cgi.sock",
)


if __name__ == "__main__":
    serve(lambda request: started.start(SERVER, request))
