"""Commands and Locusts that have their imports: forked from a process that stays ready.

They are processes like those that a person starts, but for what a process list shows of them: their
command line and their first environment are those of what they are forked from.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sitebench.system.child import of_this_parent
from sitebench.system.forked import fork
from sitebench.system.secret import FIRST_DESCRIPTOR
from tests.support.waiting import eventually

READY = {
    "locust": "tests.support.warm_locust:main",
    "sitebench.cli.main": "tests.support.warm_command:main",
}
"""What calls the function of a module that `python -m` would run."""


class Warm:
    """A process that `python -m NAME` would be, in a session of its own; used like a Popen."""

    def __init__(
        self,
        name: str,
        *argv: str,
        cwd: Path | None = None,
        env: Mapping[str, str] = MappingProxyType({}),
        together: bool = False,
    ) -> None:
        """Start it; `env` is more of its environment, and `together` has errors as it prints."""
        self._out, self._err = self._file(), self._file()
        both = self._out if together else self._err
        said = fcntl.fcntl(both, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
        try:
            self._process = fork(
                READY[name],
                [str(said), str(cwd or Path.cwd()), *argv],
                output=self._out,
                environment={**os.environ, **env},
                descriptors=[said],
            )
        finally:
            os.close(said)
        self.pid = self._process.pid
        self.poll, self.wait = self._process.poll, self._process.wait
        self.send_signal, self.kill = self._process.send_signal, self._process.kill

    def _file(self) -> int:
        """Return a file in memory that is gone with this object."""
        file = os.memfd_create("said")
        weakref.finalize(self, os.close, file)
        return file

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def said(self) -> str:
        """Return what it has printed until now."""
        return _read(self._out)

    def lines(self, n: int) -> list[str]:
        """Return the first lines that it prints, once there are so many."""
        assert eventually(lambda: self.said().count("\n") >= n or self.poll() is not None)
        return self.said().splitlines(keepends=True)[:n]

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until it ends; return what it printed, and its errors."""
        self.wait(timeout)
        return _read(self._out), _read(self._err)

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()


def _read(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def begin() -> None:
    """In the fork, be what was asked for."""
    said, folder, *argv = sys.argv[1:]
    os.dup2(int(said), sys.stderr.fileno())
    os.close(int(said))
    os.chdir(folder)
    # As `python -m` has it.
    sys.path.insert(0, folder)
    sys.argv[1:] = argv
    # A person's command does not end because the shell does.
    for name in of_this_parent({}):
        del os.environ[name]
