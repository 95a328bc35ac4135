"""Imports of the fork server, and its forks' programs: Locust, a web UI, a worker, or code."""

from sitebench.locust.process import main as begin_isolated  # First: Locust patches.

# isort: split
import ctypes
import os
import runpy
import signal
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import gevent  # type: ignore[import-untyped]
from locust.main import main as begin_locust

from sitebench.cli.main import main as begin_command
from sitebench.suite import suites

for _suite in suites():
    resolve_name(_suite.points)
    resolve_name(_suite.commands)
for _name in ("locust.web", "sitebench.locust.web_ui.setup", "sitebench.suite_base.suite_run"):
    import_module(_name)

_CLONE_NEWNET = 0x40000000


def locust() -> None:
    gevent.reinit()
    # As with `python -m`.
    sys.path.insert(0, str(Path.cwd()))
    begin_locust()  # type: ignore[no-untyped-call]


class _Becomes(BaseException):
    """Raised in place of a call that never returns: this process becomes another program."""

    def __init__(self, path: str, argv: list[str]) -> None:
        self.argv = argv


def _become(path: str, argv: list[str]) -> None:
    raise _Becomes(path, argv)


def web_ui() -> None:
    """Run `sitebench` until it becomes Locust; then run that Locust."""
    gevent.reinit()
    os.execv = _become  # type: ignore[assignment]
    try:
        begin_command()
    except _Becomes as program:
        python, *flags, module = program.argv[:4]
        assert (python, flags) == (sys.executable, ["-P", "-m"])
        assert module == begin_isolated.__module__
        sys.argv[1:] = program.argv[4:]
    # As in a new process.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    begin_isolated()


def worker() -> None:
    """Run this code in this network namespace; then run the module of a worker."""
    first, network, module, *sys.argv[1:] = sys.argv[1:]
    if network:
        # `os.setns` requires Python 3.12.
        libc = ctypes.CDLL(None, use_errno=True)
        with Path("/var/run/netns", network).open() as namespace:
            if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to {network}")
    gevent.reinit()
    exec(first, {})
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def code() -> None:
    gevent.reinit()
    exec(sys.argv[1], {"__name__": "__main__"})
