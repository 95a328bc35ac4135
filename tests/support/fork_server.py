"""Processes that have imported Locust and the suites: forked by multiprocessing's fork server.

A fork differs from a started process in its name in a process list, and in what a process
has from its start (locale, time zone, hash seed). The fork server ends with the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from pkgutil import resolve_name

from sitebench.system.child import of_this_parent


@dataclass(frozen=True)
class _Start:
    function: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str

    def _bootstrap(self, _: object) -> int:
        """In the fork, call the function; return its exit code."""
        os.setsid()
        os.chdir(self.folder)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate([null, *(forkserver.get_inherited_fds() or [])]):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(self.environment)
        for name in of_this_parent({}).keys() & self.environment.keys():
            os.environ[name] = str(os.getppid())
        sys.argv[1:] = self.arguments
        try:
            resolve_name(self.function)()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            atexit._run_exitfuncs()
            sys.stdout.flush()
        return 0


class Forked:
    """A forked process; used like a `subprocess.Popen`."""

    def __init__(
        self,
        function: str,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        output: int,
        errors: int | None = None,
        folder: Path | None = None,
    ) -> None:
        """Call a function, "module:name", in the fork, with the arguments in `sys.argv[1:]`."""
        start = _Start(function, arguments, dict(environment), str(folder or Path.cwd()))
        forkserver.set_forkserver_preload(["tests.support.unpatched", "tests.support.preloaded"])
        descriptors = [output, output if errors is None else errors]
        self._status, request = forkserver.connect_to_new_process(descriptors)
        with os.fdopen(request, "wb") as file:
            # The input of `multiprocessing.spawn`: preparations, and the object whose `_bootstrap`
            # it calls.
            file.write(pickle.dumps({}) + pickle.dumps(start))
        self.pid = forkserver.read_signed(self._status)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code (below 0 for a signal), or None while the process runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process ends; return its exit code, or raise TimeoutExpired."""
        if self.returncode is None:
            status = select.poll()
            status.register(self._status, select.POLLIN)
            if not status.poll(None if timeout is None else timeout * 1e3):
                raise subprocess.TimeoutExpired("a fork", timeout or 0.0)
            self.returncode = forkserver.read_signed(self._status)
            os.close(self._status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        self.send_signal(signal.SIGKILL)
