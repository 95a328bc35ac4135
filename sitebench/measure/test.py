"""A test as a value: what was decided of it, and what each process that takes part is handed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import msgspec

from sitebench.measure.options import LoadOptions
from sitebench.options import convert
from sitebench.options.addresses import MasterAddress
from sitebench.runs.identity import SCENARIO_DIGEST
from sitebench.runs.point import PointSpec
from sitebench.targets.open_target import OpenTarget


class Gathering(msgspec.Struct, frozen=True):
    """The workers of a point: how many, the master's address, and how long to wait for them."""

    count: int
    at: MasterAddress
    wait_s: float

    @classmethod
    def of(cls, options: LoadOptions) -> Gathering | None:
        """Return the workers of the options; None if the point's own process makes the load."""
        if options.workers is None:
            return None
        return cls(options.workers, options.bind, options.workers_wait)

    def argv(self) -> list[str]:
        return [
            *("--master", "--master-bind-host", self.at.host),
            *("--master-bind-port", str(self.at.port), "--expect-workers", str(self.count)),
            *("--expect-workers-max-wait", str(max(1, round(self.wait_s)))),
        ]


OWN_USER = "OwnUser"
"""The class that repeats a program of the caller's own."""


_FOR_WORKERS = ("spec", "user_classes", "scenario", "data", "first_added")


@dataclass(frozen=True, kw_only=True)
class Test:
    """One measurement: its load and, once its target is open, all that its processes have to know.

    A command plans it, and sends it to its runner. Where Locust was started by hand, or shows its
    page, it is made there as it begins. A master sends its workers what they need of it.
    """

    __test__: ClassVar[bool] = False
    """Read by pytest, which collects classes of such names."""

    spec: PointSpec
    """What identifies the point in a run file."""
    options: LoadOptions
    """The suite's options for this one point."""
    user_classes: tuple[str, ...]
    """Classes of the locustfile, or OWN_USER."""
    locustfile: Path = Path()
    program: object = None
    """The program of OWN_USER."""
    scenario: tuple[str, str] | None = None
    """The name and the text of the scenario file."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Digests of the user's other files, which each process reads itself."""
    opened: OpenTarget[Any] | None = None
    first_added: Sequence[int] = ()
    """For each process that makes load, the first person that it may add."""

    @property
    def target(self) -> OpenTarget[Any]:
        assert self.opened is not None
        return self.opened

    @property
    def scenarios(self) -> dict[str, str]:
        file = self.scenario
        return {} if file is None else {self.spec.settings[SCENARIO_DIGEST]: file[1]}

    @property
    def gathering(self) -> Gathering | None:
        """The workers that make its load."""
        return Gathering.of(self.options)

    def again(self, spec: PointSpec) -> Test:
        """Return it as another repeat, or as a second try with more engine threads."""
        threads = spec.threads or self.options.threads
        return replace(self, spec=spec, options=replace(self.options, threads=threads))

    def at(self, target: OpenTarget[Any]) -> Test:
        """Return the test with its target, in the form for another process."""
        return replace(self, opened=target.without_process())

    def to_message(self) -> dict[str, Any]:
        """Return the test for workers on any machine, as plain data without secrets."""
        sent: dict[str, Any] = msgspec.to_builtins(
            {name: getattr(self, name) for name in _FOR_WORKERS}
        )
        return sent | {"options": convert.to_texts(self.options), "target": self.target.to_json()}

    @classmethod
    def read(cls, data: dict[str, Any], options: type[Any], target: type[OpenTarget[Any]]) -> Test:
        """Read a test from `to_message`; raises msgspec.ValidationError."""
        kinds = get_type_hints(cls)
        received = {name: msgspec.convert(data[name], kinds[name]) for name in _FOR_WORKERS}
        options_read = convert.from_texts(options, data["options"])
        opened = msgspec.convert(data["target"], target).without_process()
        return cls(options=options_read, opened=opened.with_options(options_read), **received)
