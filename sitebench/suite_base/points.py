"""The points of a suite: what each measures, the target it is measured at, and its Locust process.

A suite's own `points.py` says what its options and targets add to this.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sitebench.errors import UnknownValue
from sitebench.measure.point_process import Gathering, PointCommand
from sitebench.options import convert
from sitebench.runs.point import PointSpec, is_name
from sitebench.suite import Suite
from sitebench.system import secret
from sitebench.system.scratch import scratch
from sitebench.targets.open_target import OpenTarget

_O = TypeVar("_O")

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class OwnUser({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


class Points(Protocol):
    """A suite's own `points.py`, as far as its commands and its tests need it."""

    def point(self, options: Any, operation: str) -> PointSpec: ...
    def manifest(self, options: Any, sizes: Sequence[int]) -> Mapping[str, Any]: ...


def at_size(cls: type[_O], options: Any, size: int) -> _O:
    """Return the options of one size from those of a sweep."""
    return replace(convert.narrowed(cls, options), entries=size)  # type: ignore[type-var]


def point(suite: Suite, options: Any, operation: str, **settings: str) -> PointSpec:
    """Return the specification of one point; `settings` identify it besides its options."""
    if not is_name(operation):
        raise UnknownValue(
            f"{operation!r} cannot be the name of an operation",
            "give it letters, digits, spaces and .,:+-_, at most 64",
        )
    chosen = convert.to_texts(options) | settings
    if options.rate is None or options.arrivals == "even":
        # Even ones are not named: points measured before there was a choice keep their keys.
        del chosen["arrivals"]
    return PointSpec(
        suite=suite.name,
        operation=operation,
        # A suite whose targets hold no people has no such option.
        entries=getattr(options, "entries", 0),
        target=options.target,
        users=options.users,
        rate=options.rate,
        warmup_s=options.warmup,
        measure_s=options.measure or 0.0,
        client=options.client,
        settings=chosen,
    )


@dataclass(frozen=True)
class Endpoint:
    """An open target that points are measured at."""

    suite: Suite
    target: OpenTarget[Any]
    options: Any
    locust_options: type[Any]
    """What the suite's locustfile takes."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Those of them that only this suite has, and that follow from its target."""
    own: tuple[Path, str] | None = None
    """A locustfile and its class, for an operation that the suite does not have."""
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
            self.suite.operations[spec.operation],
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


@dataclass(frozen=True)
class Own:
    """An operation, the user class that runs such operations, and the attribute that takes it."""

    module: str
    base: str
    attribute: str
    value: Any


@contextlib.contextmanager
def own_locustfile(own: Own | None) -> Iterator[tuple[Path, str] | None]:
    """Yield a locustfile whose one class runs the operation, and the name of the class.

    None for None: the suite's own locustfile has the operation.

    The operation itself is handed on in memory: a sequence may hold a password, and a file would
    outlive a program that is killed.
    """
    if own is None:
        yield None
        return
    with scratch() as folder, secret.held(pickle.dumps(own.value)) as kept:
        path = folder / "own.py"
        path.write_text(
            _LOCUSTFILE.format(module=own.module, base=own.base, attribute=own.attribute, kept=kept)
        )
        yield path, "OwnUser"


def manifest(
    options: Any, sizes: Sequence[int], population: Mapping[str, Any] | None, **more: Any
) -> dict[str, Any]:
    """Return a suite's facts about a run; a suite without people has no population."""
    people = {} if population is None else {"population": dict(population)}
    return {**people, "target": options.target, "sizes": list(sizes), **more}
