"""The command `ui` of every suite: its process becomes a Locust with a web UI."""

from __future__ import annotations

import errno
import os
import socket
import sys
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput, PortInUse, SitebenchError
from sitebench.locust.web_ui import login
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.options.convert import narrow, to_argv
from sitebench.system.programs import python_module


def become_locust(locustfile: Path, chosen: Any, options: type[SessionOptions]) -> None:
    """Check the options, and become Locust with the options that the locustfile takes."""
    host, port = chosen.web_host, chosen.web_port
    _refuse_taken(host, port)
    login.check(web_login=chosen.web_login, login_file=chosen.login_file)
    argv = [
        *(*python_module("sitebench.locust.process"), "-f", str(locustfile)),
        *("--loglevel", "WARNING"),
        *("--web-host", host, "--web-port", str(port)),
        *(["--web-login"] if chosen.web_login else []),
        *chosen.master_argv(),
        *("--users", str(chosen.users), "--spawn-rate", str(chosen.users)),
        *to_argv(narrow(options, chosen)),
    ]
    sys.stderr.flush()
    os.execv(argv[0], argv)


def _refuse_taken(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise cannot_listen(host, port, error) from error


def cannot_listen(host: str, port: int, error: OSError) -> SitebenchError:
    if error.errno == errno.EADDRINUSE:
        return PortInUse(
            f"port {port} of {host} is in use",
            "stop the program that uses it, or choose another port with --web-port",
        )
    return BadInput(
        f"the web UI cannot listen on port {port} of {host}: {error.strerror}",
        "choose others with --web-host and --web-port",
    )
