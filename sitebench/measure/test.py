"""A test as a value, which is sent to every process that takes part in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import msgspec

from sitebench.measure.options import LoadOptions
from sitebench.options import convert
from sitebench.runs.identity import SCENARIO_DIGEST
from sitebench.runs.point import PointSpec
from sitebench.targets.open_target import OpenTarget

OWN_USER = "OwnUser"
"""The user class that repeats the caller's own program."""

_FOR_WORKERS = ("spec", "user_classes", "scenario", "data", "first_added")


@dataclass(frozen=True, kw_only=True)
class Test:
    """A measurement: its load, and its target after the target was opened.

    A command plans the test and sends it to its runner. A Locust that was started by hand, or that
    shows the web page, creates the test itself. A master sends a part of the test to its workers.
    """

    __test__: ClassVar[bool] = False
    """Without this, pytest would collect a class of this name as tests."""

    spec: PointSpec
    options: LoadOptions
    user_classes: tuple[str, ...]
    """Classes of the locustfile, or OWN_USER."""
    locustfile: Path = Path()
    program: object = None
    """The program of OWN_USER."""
    scenario: tuple[str, str] | None = None
    """The name and the text of the scenario file."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Digests of the user's other files, of which every process reads its own copy."""
    opened: OpenTarget[Any] | None = None
    first_added: Sequence[int] = ()
    """The first person that a process may add, for each process that makes load."""

    @property
    def target(self) -> OpenTarget[Any]:
        assert self.opened is not None
        return self.opened

    @property
    def scenarios(self) -> dict[str, str]:
        file = self.scenario
        return {} if file is None else {self.spec.settings[SCENARIO_DIGEST]: file[1]}

    def again(self, spec: PointSpec) -> Test:
        """Return the test as another repeat, or as a second try with more engine threads."""
        threads = spec.threads or self.options.threads
        return replace(self, spec=spec, options=replace(self.options, threads=threads))

    def at(self, target: OpenTarget[Any]) -> Test:
        """Return the test with its open target, to send to another process."""
        return replace(self, opened=target.without_process())

    def to_message(self) -> dict[str, Any]:
        """Return plain data without secrets, for workers on any machine."""
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
