"""Commands in separate processes, which may get a signal when they call a function."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sitebench.cli.main import main as begin_command
from tests.support.cli import Ran


def run_forked(*argv: str, cwd: Path, timeout_s: float, moment: str = "") -> tuple[Ran, float]:
    """Run a command to its end; return also the highest memory of one of its processes in MiB.

    `moment` sends a signal at a call of a function: "15 module:Class.method 3" is SIGTERM at the
    third call.
    """
    with tempfile.TemporaryFile() as memory:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(memory.fileno()), moment, *argv],
            cwd=cwd,
            env={**os.environ, "COLUMNS": "160"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[memory.fileno()],
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout_s)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        memory.seek(0)
        return Ran(process.returncode, out, err), float(memory.read())


def main() -> None:
    """Run the command in a fork, because only a child's highest memory is known."""
    memory, moment, *sys.argv[1:] = sys.argv[1:]
    if child := os.fork():
        # Including its own waited-for children, because `getrusage` covers only own children.
        _, status, used = os.wait4(child, 0)
        os.write(int(memory), str(used.ru_maxrss / 1024).encode())
        sys.exit(os.waitstatus_to_exitcode(status))
    if moment:
        _signal_at(*moment.split())
    begin_command()


def _signal_at(number: str, place: str, nth: str) -> None:
    """Send this process a signal at the nth call of a function, "module:Class.method"."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = resolve_name(f"{module}:{'.'.join(owners)}") if owners else import_module(module)
    function, calls = getattr(owner, name), itertools.count(1)

    def called(*arguments: Any, **more: Any) -> Any:
        if next(calls) == int(nth):
            os.kill(os.getpid(), int(number))
        return function(*arguments, **more)

    setattr(owner, name, called)


if __name__ == "__main__":
    main()
