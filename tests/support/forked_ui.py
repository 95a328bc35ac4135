"""What `web_ui` forks a web UI from: it has imported the command line, Locust and its pages."""

from sitebench.locust.process import main as begin_locust  # First: Locust patches what it imports.

import gevent  # type: ignore[import-untyped] # isort: skip

import os
import signal
import sys
from pkgutil import resolve_name

import locust.web  # noqa: F401

import sitebench.locust.web_ui.setup
import sitebench.suite_base.process  # noqa: F401
from sitebench.cli.main import main as begin_command
from sitebench.suite import suites
from tests.support.locusts import begin

for _suite in suites():
    resolve_name(_suite.commands)


class _Becomes(BaseException):
    """In place of what never returns: this process shall run another program."""

    def __init__(self, path: str, argv: list[str]) -> None:
        self.argv = argv


def _become(path: str, argv: list[str]) -> None:
    raise _Becomes(path, argv)


def main() -> None:
    """Run `sitebench`, until it becomes Locust; then run that."""
    gevent.reinit()
    begin()
    os.execv = _become  # type: ignore[assignment]
    try:
        begin_command()
    except _Becomes as found:
        python, *flags, module = found.argv[:4]
        assert (python, flags) == (sys.executable, ["-P", "-m"])
        assert module == begin_locust.__module__
        sys.argv[1:] = found.argv[4:]
    # As a new process has it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    del sys.path[0]
    begin_locust()
