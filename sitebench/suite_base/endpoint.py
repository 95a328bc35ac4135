"""An open target that points are measured at, and the locustfile of a caller's own program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from sitebench.frozen import frozen
from sitebench.measure.point_process import Gathering, PointCommand
from sitebench.options import convert
from sitebench.runs.point import PointSpec
from sitebench.suite import Suite
from sitebench.suite_base.options import SuiteOptions
from sitebench.system import secret
from sitebench.system.scratch import scratch
from sitebench.targets.open_target import OpenTarget

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class OwnUser({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


@frozen
class Endpoint:
    """An open target that points are measured at."""

    suite: Suite
    target: OpenTarget[Any]
    options: SuiteOptions
    locust_options: type[Any]
    """What the suite's locustfile takes."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Those of them that only this suite has, and that follow from its target."""
    own: tuple[Path, str] | None = None
    """A locustfile and its class, for an operation that the suite does not have."""
    user_class: str | None = None
    """The class of the suite's locustfile, where it does not follow from the operation."""
    pending_cleanup: Callable[[int], str | None] = lambda pid: None
    """What a point's process still removes from the target, in words."""

    def command(self, spec: PointSpec) -> PointCommand:
        target, owned = self.target, self.options.i_own_this_target
        here = replace(
            convert.narrowed(self.locust_options, self.options),
            target=str(target.address),
            tls=False,
            tls_ca=target.ca,
            # Those of the target, which is open.
            target_limits=None,
            # A command's is the file of all its points, which PointCommand names.
            out=None,
            i_own_this_target=owned or target.disposable,
            rate=spec.rate,
            measure=spec.measure_s or None,
            threads=spec.threads or self.options.threads,
            **self.arguments,
        )
        locustfile, user_class = self.own or (
            self.suite.locustfile_path(),
            self.user_class or self.suite.operations[spec.operation].user_class,
        )
        return PointCommand(
            locustfile,
            user_class,
            convert.to_argv(here),
            target.pid,
            target.cores,
            Gathering.of(self.options),
            self.pending_cleanup,
        )

    def check(self) -> None:
        """Raise when the target does not answer any more."""
        self.target.check()

    def facts(self) -> dict[str, Any]:
        """Return its name, version and configuration, as far as it says."""
        return {"name": self.target.name, **self.target.facts}


@frozen
class OwnUser:
    """The user class that repeats a program of the caller's, and the attribute that takes it."""

    module: str
    base: str
    attribute: str


@contextlib.contextmanager
def own_locustfile(user: OwnUser, program: object | None) -> Iterator[tuple[Path, str] | None]:
    """Yield a locustfile whose one class repeats the program, and the name of the class.

    None for None: the suite's own locustfile has the operation. The program itself is handed on in
    memory: a sequence may hold a password, and a file would outlive a program that is killed.
    """
    if program is None:
        yield None
        return
    import pickle

    with scratch() as folder, secret.held(pickle.dumps(program)) as kept:
        path = folder / "own.py"
        words = {"module": user.module, "base": user.base, "attribute": user.attribute}
        path.write_text(_LOCUSTFILE.format(**words, kept=kept))
        yield path, "OwnUser"
