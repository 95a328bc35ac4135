"""Commands in processes of their own, forked from one that has imported the command line.

One differs from a command that is started in what a process list shows of it, and in what a process
has from its start. Its imports, most of what a brief command costs, are done.
"""

import contextlib
import fcntl
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sitebench.cli.main import main as begin_command
from sitebench.suite import suites
from sitebench.system.child import of_this_parent
from sitebench.system.forked import fork
from sitebench.system.secret import FIRST_DESCRIPTOR
from tests.support.cli import Ran

for each in suites():
    resolve_name(each.commands)
for name in ("ils_bench.targets.probe", "sitebench.http.site"):
    import_module(name)


def run_forked(*argv: str, cwd: Path, timeout_s: float, moment: str = "") -> tuple[Ran, float]:
    """Run a command to its end; return also the most MiB of memory that a process of it had.

    `moment` has it sent a signal as it calls a function: "15 module:Class.method 3" is SIGTERM at
    the third call.
    """
    with contextlib.ExitStack() as stack:
        out, err, memory = (stack.enter_context(_memory_file()) for _ in range(3))
        process = fork(
            f"{__name__}:main",
            [*map(str, (err, memory, cwd, moment)), *argv],
            output=out,
            environment={**os.environ, "COLUMNS": "160"},
            descriptors=[err, memory],
        )
        try:
            code = process.wait(timeout_s)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return Ran(code, _content(out), _content(err)), float(_content(memory))


@contextlib.contextmanager
def _memory_file() -> Iterator[int]:
    """Make a file under a number that a fork can be given it by."""
    made = os.memfd_create("of a command")
    try:
        high = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    finally:
        os.close(made)
    try:
        yield high
    finally:
        os.close(high)


def _content(file: int) -> str:
    return os.pread(file, os.fstat(file).st_size, 0).decode()


def main() -> None:
    """In the fork, run the command."""
    err, memory, folder, moment, *argv = sys.argv[1:]
    os.dup2(int(err), sys.stderr.fileno())
    os.close(int(err))
    os.chdir(folder)
    sys.argv[1:] = argv
    # A person's command does not end because the shell does.
    for variable in of_this_parent({}):
        del os.environ[variable]
    if child := os.fork():
        # With what it waited for itself, which `getrusage` tells only of one's own children.
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
