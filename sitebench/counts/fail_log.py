"""`--fail-log FILE`: the first failed operations of each point, as lines of JSON.

The engine keeps the first of each thread and hands them out with its counts; lines of a point after
the first `MOST` are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitebench.errors import BadInput, MeasurementFailed

MOST = 100
"""Lines of a point. The counts have all failures; to see what is wrong the first are enough."""
_NAMES = (
    *("time", "point", "user", "iteration", "operation", "step", "kind", "code", "diagnostic"),
    *("asked", "rows"),
)


_BEGINS = b'{"time": '
"""What a line of a log begins with."""


def begin(path: str, out: str | None = None) -> None:
    """Make the file anew, for all points of a command; raises where it cannot be written.

    Only an earlier log is overwritten: a slip may have named data, or a run file, as that of `out`.
    Where that is there the run goes on, and points that it has are not measured again.
    """
    file = Path(path)
    if out is not None and Path(out).resolve() == file.resolve():
        raise BadInput("--fail-log and --out are one file", "name two")
    try:
        if file.is_file() and not _is_log(file):
            raise BadInput(
                f"--fail-log: {path} is there, and is no log of failures",
                "name another file, or remove it",
            )
        goes_on = out is not None and Path(out).exists()
        file.open("a" if goes_on else "w").close()
    except OSError as error:
        raise BadInput(
            f"--fail-log: cannot write {path}: {error.strerror}", "name a file that can be written"
        ) from error


def forget(path: str, point: str) -> None:
    """Leave out what an earlier try of a point has logged: it was interrupted."""
    file = Path(path)
    if file.is_file():
        own = f'"point": {json.dumps(point)}'
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(each for each in lines if own not in each), encoding="utf-8")


def _is_log(file: Path) -> bool:
    with file.open("rb") as found:
        return found.read(len(_BEGINS)) in (b"", _BEGINS)


@dataclass
class FailLog:
    """The log of one point, or of a test that is none."""

    path: str
    point: str | None
    """The point's key, as the run file has it."""
    left: int = MOST

    def take(self, lines: Iterable[str]) -> None:
        """Add what the engine has logged."""
        found: list[dict[str, Any]] = [json.loads(line) for line in lines]
        found.sort(key=lambda each: str(each["time"]))
        kept, self.left = found[: self.left], self.left - min(self.left, len(found))
        if not kept:
            return
        text = "".join(
            json.dumps({name: ({"point": self.point} | each)[name] for name in _NAMES}) + "\n"
            for each in kept
        )
        try:
            with Path(self.path).open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise MeasurementFailed(
                f"--fail-log: cannot write {self.path}: {error.strerror}",
                "make room for it, or leave it out",
            ) from error
