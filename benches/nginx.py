"""nginx with one static file: what a personalized page is held against."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sitebench.errors import MeasurementFailed, SitebenchError
from sitebench.http.site import Address, probe
from sitebench.system.network import free_port
from sitebench.system.programs import find_program, last_line
from sitebench.targets.tls import SYSTEM, ServerTls, Trust

ANSWER_S = 10.0
_CONFIG = """\
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=16;
  keepalive_requests 100000000;
  types {{ text/html html; }}
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port}{secure};
    root {folder}/www;
  }}
}}
"""


def find(program: str, package: str) -> str:
    """Return the path of a program of a Debian package."""
    return find_program(program, f"`apt-get install {package}`")


@contextlib.contextmanager
def serving(
    page: bytes, shown: ServerTls | None = None, trust: Trust = SYSTEM
) -> Iterator[Address]:
    """Yield the address of an nginx that serves `page` at /page.html, over TLS if it has a key."""
    program = find("nginx", "nginx-light")
    with tempfile.TemporaryDirectory(prefix="sitebench-nginx-") as name:
        scheme = "http" if shown is None else "https"
        folder, address = Path(name), Address("127.0.0.1", free_port(), scheme=scheme)
        (folder / "www").mkdir()
        # As root, nginx's worker would switch to user nobody; without a master it does not.
        (folder / "www" / "page.html").write_bytes(page)
        (folder / "nginx.conf").write_text(
            _CONFIG.format(folder=folder, port=address.port, secure=_secure(shown))
        )
        process = subprocess.Popen(
            [program, "-p", name, "-e", f"{name}/error.log", "-c", f"{name}/nginx.conf"],
            stdin=subprocess.DEVNULL,
        )
        try:
            _wait(process, address, folder, trust)
            yield address
        finally:
            process.terminate()
            process.wait(10)


def _secure(shown: ServerTls | None) -> str:
    """Return what follows a port in `listen`, and the lines after it."""
    if shown is None:
        return ""
    lines = [f"ssl_certificate {shown.cert}", f"ssl_certificate_key {shown.key}"]
    if shown.client_ca is not None:
        lines += [f"ssl_client_certificate {shown.client_ca}", "ssl_verify_client on"]
    return " ssl;\n    " + ";\n    ".join(lines)


def _wait(process: subprocess.Popen[bytes], address: Address, folder: Path, trust: Trust) -> None:
    give_up = time.monotonic() + ANSWER_S
    while True:
        try:
            probe(address, trust)
        except SitebenchError:
            if process.poll() is None and time.monotonic() < give_up:
                time.sleep(0.05)
                continue
            log = (folder / "error.log").read_text(errors="replace")
            raise MeasurementFailed(
                f"nginx did not start: {last_line(log)}",
                "look at its configuration, or run again",
            ) from None
        return
