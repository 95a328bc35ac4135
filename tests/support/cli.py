"""The command line in a separate process, as users and pipelines run it, or in this process."""

import io
import json
import os
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from sitebench.cli.main import main
from sitebench.monitor.others import Others
from tests.support.programs import run_program

SITEBENCH = (sys.executable, "-m", "sitebench.cli.main")


@dataclass(frozen=True)
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def check(self, code: int, *words: str) -> Self:
        """Check the exit code, and that the messages contain these words."""
        assert self.code == code, self.err
        assert "Traceback" not in self.err
        for part in words:
            assert part in self.err, self.err
        return self

    def refuse(self, code: int, *words: str) -> Self:
        """Check also that the only messages are an error in one line, and its remedy."""
        error, remedy = self.check(code, *words).err.rstrip("\n").split("\n")
        assert error.startswith("sitebench: ")
        assert remedy.startswith("  ")
        return self

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The output of `--json`."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def point(self) -> dict[str, Any]:
        """The only object that `--json` printed, of a command that succeeded."""
        (point,) = self.check(0).objects
        return point


def sitebench(
    *argv: str, cwd: Path | None = None, timeout_s: float | None = None, **env: str
) -> Ran:
    """Run a command to its end."""
    return python_module(SITEBENCH[2], *argv, cwd=cwd, timeout_s=timeout_s, **env)


def in_process(*argv: object, cwd: Path | None = None, **env: str) -> Ran:
    """Run a command in this process: any but `ui` and `worker`, which import Locust.

    Starting Python and importing the command line takes half a second of CPU.
    """
    out, err = io.StringIO(), io.StringIO()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["sitebench", *map(str, argv)])
        patch.setattr(os, "execv", _becomes_another)
        # Other tests check the note on other programs, which takes up to a second.
        for place in ("measure.progress", "monitor.others"):
            patch.setattr(f"sitebench.{place}.other_programs", lambda: Others(0.0, 1))
        for name, value in {"COLUMNS": "160", **env}.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
    for number, handler in before.items():
        signal.signal(number, handler)
    return Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def _becomes_another(*_: object) -> None:
    raise AssertionError("this command becomes another process: run it with `sitebench`")


def python_module(
    name: str, *argv: str, cwd: Path | None = None, timeout_s: float | None = None, **env: str
) -> Ran:
    """Run `python -m NAME` to its end, within the test's time limit."""
    more: dict[str, Any] = {} if timeout_s is None else {"timeout": timeout_s}
    env = {**os.environ, "COLUMNS": "160", **env}
    done = run_program([sys.executable, "-m", name, *argv], cwd=cwd, env=env, **more)
    return Ran(done.returncode, done.stdout, without_note(done.stderr))


def without_note(said: str) -> str:
    """Remove the note that other programs use this machine, because other tests do."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("note Other programs use "))
