"""`--fail-log FILE`: the first failed operations of each phase of a point, as lines of JSON."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput
from sitebench.system.files import write

MOST = 100
"""Largest number of lines of a phase; counts include all failures."""
GIVEN_UP = "--fail-log: cannot write"
"""The first words of the message about a log that cannot be written."""
_NAMES = (
    *("time", "point", "phase", "user", "iteration", "operation"),
    *("step", "kind", "code", "diagnostic", "asked", "rows"),
)
_BEGINS = b'{"time": '


def begin(path: str, out: str | None = None) -> None:
    """Create the log of a command.

    Continue an earlier log if the run file `out` exists, else overwrite it. Refuse any other file.
    """
    file = Path(path)
    if out is not None and Path(out).resolve() == file.resolve():
        raise BadInput("--fail-log and --out name the same file", "name two")
    try:
        if file.is_file() and not _is_log(file):
            raise BadInput(
                f"--fail-log: {path} exists, and is not a log of failures",
                "name another file, or remove it",
            )
        goes_on = out is not None and Path(out).exists()
        open(file, "a" if goes_on else "w", opener=_private).close()
    except OSError as error:
        raise BadInput(
            f"--fail-log: cannot write {path}: {error.strerror}", "name a file that can be written"
        ) from error


def forget(path: str, point: str) -> None:
    """Remove the lines that an interrupted try of a point has written."""
    file = Path(path)
    if file.is_file():
        member = f'"point": {json.dumps(point)}'
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        # The write is atomic, because the file also has the lines of other points.
        write(file, "".join(line for line in lines if member not in line))


def _private(path: str, flags: int) -> int:
    """Open a file; a new file is readable by its owner alone, because the log names people."""
    return os.open(path, flags, 0o600)


def _is_log(file: Path) -> bool:
    with file.open("rb") as log:
        return log.read(len(_BEGINS)) in (b"", _BEGINS)


@dataclass
class FailLog:
    path: str
    point: str | None
    """The point's key in the run file."""
    _is_given_up: bool = False
    _n_accepted: Counter[str] = field(default_factory=Counter)

    def take(self, lines: Iterable[str], phase: str) -> None:
        """Add the engine's lines of a phase; do nothing after a write error."""
        failures: list[dict[str, Any]] = [json.loads(line) for line in lines]
        failures.sort(key=lambda failure: str(failure["time"]))
        accepted = failures[: MOST - self._n_accepted[phase]]
        if not accepted or self._is_given_up:
            return
        self._n_accepted[phase] += len(accepted)
        common = {"point": self.point, "phase": phase}
        text = "".join(
            json.dumps({name: (common | failure)[name] for name in _NAMES}) + "\n"
            for failure in accepted
        )
        try:
            _append(Path(self.path), text.encode())
        except OSError as error:
            # A write error does not end the point.
            self._is_given_up = True
            reason = f"{self.path}: {error.strerror}; further failures are not logged, but counted"
            print(f"{GIVEN_UP} {reason}", file=sys.stderr, flush=True)


def _append(path: Path, lines: bytes) -> None:
    """Add all lines to a file, or none."""
    with open(path, "ab", buffering=0, opener=_private) as file:
        size = file.tell()
        try:
            if file.write(lines) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(size)
            raise
