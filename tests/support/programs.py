"""Programs that the tests use, such as slapd and ldapsearch."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from sitebench.errors import SitebenchError
from tests.support.waiting import ends_s, eventually, left_s

# Debian installs slapd in sbin, which is not on every user's PATH.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def required_program(name: str, packages: str = "") -> Path:
    """Return the path of `name`; `packages` is its argument of .ci/system-packages.

    Without the program the test is skipped on a developer's machine, and fails if CI is set,
    because a skipped test would hide that it was not run.
    """
    path = shutil.which(name, path=SEARCH_PATH)
    if path is None:
        refuse_without(name, packages)
    return Path(path)


def refuse_without(name: str, packages: str = "") -> NoReturn:
    """Skip the test, or fail if CI is set."""
    message = f"{name} is not installed: run .ci/system-packages {packages}".rstrip()
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def run_program(
    argv: Sequence[object] | str, *, check: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, within the time that the test has."""
    return subprocess.run(
        argv if isinstance(argv, str) else [*map(str, argv)],
        capture_output=True,
        text=True,
        check=check,
        **{"timeout": left_s(), **more},
    )


def printing(code: str, *argv: str) -> tuple[subprocess.Popen[str], str]:
    """Start Python code; return its process and its first line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def listens(port: int) -> bool:
    return succeeds(lambda: socket.create_connection(("127.0.0.1", port), 1).close())


def succeeds(act: Callable[[], object]) -> bool:
    """Return whether a look at a server raises no error."""
    with contextlib.suppress(OSError, SitebenchError, subprocess.SubprocessError):
        act()
        return True
    return False


@contextlib.contextmanager
def running_server(
    argv: Sequence[object],
    answers: int | Callable[[], object],
    *,
    ends_by: int = signal.SIGTERM,
    **more: Any,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the test has done with it, and end it by a signal.

    It is ready if it listens on a port, or if a function raises no error.
    """

    def ready() -> bool:
        return listens(answers) if isinstance(answers, int) else succeeds(answers)

    with tempfile.TemporaryFile() as log:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
        process = subprocess.Popen([*map(str, argv)], **{**streams, **more})
        try:
            eventually(lambda: process.poll() is not None or ready())
            is_up = process.poll() is None and ready()
            assert is_up, os.pread(log.fileno(), 1 << 16, 0)
            yield process
        finally:
            process.send_signal(ends_by)
            process.wait(ends_s())
