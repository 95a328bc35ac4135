"""Common parts of the tests of nginx and Apache: requests, and checks for remains."""

import contextlib
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sitebench.http.address import SiteAddress
from tests.support.programs import required_program
from tests.support.waiting import eventually, left_s


@dataclass(frozen=True)
class Answer:
    """An answer, and its header lines by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def variables(self) -> dict[str, str]:
        """The environment that a program has printed."""
        lines = self.body.decode().splitlines()
        return dict(line.split("=", 1) for line in lines)


def ask(address: SiteAddress, path: str, ca: str | None = None, method: str = "GET") -> Answer:
    connection: http.client.HTTPConnection
    if address.is_encrypted:
        context = ssl.create_default_context(cafile=ca)
        connection = http.client.HTTPSConnection(address.host, address.port, context=context)
    else:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, headers, answer.read())


def family(pid: int) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def names(pid: int) -> list[str]:
    """Return the names of a process and all of its descendants, in alphabetical order."""
    found = []
    for each in family(pid):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(each.name())
    return sorted(found)


def today() -> str:
    """Return the date of this machine in the format of pages."""
    return time.strftime("%Y-%m-%d")


_SERVE = """
import importlib, json, signal, sys
from pathlib import Path
module, docroot = sys.argv[1:]
with importlib.import_module(module).serving(Path(docroot)) as server:
    print(json.dumps([server.pid, server.address.port, server.programs]), flush=True)
    signal.pause()
"""


@contextlib.contextmanager
def served_elsewhere(
    module: str, docroot: Path, before: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[bytes], list[Any]]]:
    """Serve a folder from another process; yield it with the server's pid, port and programs."""
    argv = [*before, sys.executable, "-c", _SERVE, module, str(docroot)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def assert_ends_with_its_parent(module: str, docroot: Path, how: signal.Signals) -> None:
    """Check that a server and its descendants end together with the process that serves."""
    with served_elsewhere(module, docroot) as (process, (pid, _, _)):
        begun = family(psutil.Process(pid).ppid())
        assert len(begun) > 3
        process.send_signal(how)
        process.wait(left_s())
        assert eventually(lambda: not any(each.is_running() for each in begun)), begun


def ordinary_user() -> Sequence[str]:
    """Return a prefix for commands that drops the rights of root, if this is root."""
    if os.geteuid() != 0:
        return ()
    user = ("--reuid=65534", "--regid=65534", "--clear-groups")
    # The process may still read all files, because the interpreter may be in root's home.
    rights = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    return (str(required_program("setpriv")), *user, *rights)
