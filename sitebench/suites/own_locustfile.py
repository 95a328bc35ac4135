"""One point measured for a program that asks, as a sweep measures each of its points."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sitebench.api.result import Result
from sitebench.measure.sweep import Stage, sweep
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system import secret
from sitebench.system.limits import allow_descriptors
from sitebench.system.scratch import scratch

CLASS = "OwnUser"

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class {name}({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


class _Quiet:
    """Says nothing while a point is measured."""

    def opening(self, title: str) -> None:
        """Say nothing."""

    def started(self, spec: PointSpec) -> None:
        """Say nothing."""

    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None:
        """Say nothing."""

    def finished(self, result: PointResult, *, resumed: bool) -> None:
        """Say nothing."""


def measure(stage: Stage, out: Path | str | None = None) -> Result:
    """Measure the stage's one point, into a run file of its own unless one is named."""
    (spec,) = stage.points
    allow_descriptors(spec.users)
    with scratch() as folder:
        path = Path(out or folder / "run.sitebench")
        with RunStore(path) as store:
            sweep([stage], store, _Quiet())
        return Result.of(path, spec)


@contextlib.contextmanager
def own_locustfile(
    module: str, base: str, attribute: str, value: Any
) -> Iterator[tuple[Path, str]]:
    """Yield a locustfile whose one class does what `value` says, and the name of the class.

    The value itself is in no file that has a name: a sequence may hold a password.
    """
    with scratch() as folder, secret.held(pickle.dumps(value)) as kept:
        path = folder / "own.py"
        path.write_text(
            _LOCUSTFILE.format(module=module, base=base, name=CLASS, attribute=attribute, kept=kept)
        )
        yield path, CLASS
