"""A test as a value: what its command decided, and what the process that runs it is handed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from sitebench.frozen import frozen
from sitebench.measure.options import LoadOptions
from sitebench.options.addresses import MasterAddress
from sitebench.runs.identity import SCENARIO_DIGEST
from sitebench.runs.point import PointSpec
from sitebench.targets.open_target import OpenTarget


@frozen
class Gathering:
    """The workers of a point: how many, the master's address, and how long to wait for them."""

    count: int
    at: MasterAddress
    wait_s: float

    @classmethod
    def of(cls, options: LoadOptions) -> Gathering | None:
        """Return what the options ask for; None if the point's own process makes the load."""
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


@frozen(kw_only=True)
class Test:
    """One point to measure, and once its target is open all that its processes have to know."""

    __test__: ClassVar[bool] = False
    """Read by pytest, which collects classes of such names."""

    spec: PointSpec
    options: Any
    """Those of one point in its suite."""
    locustfile: Path
    user_classes: tuple[str, ...]
    """Classes of the locustfile, or OWN_USER."""
    program: object = None
    """Of OWN_USER."""
    scenario: tuple[str, str] | None = None
    """The name and the text of the scenario file."""
    target: OpenTarget[Any] | None = None

    @property
    def scenarios(self) -> dict[str, str]:
        """The text of the scenario file, by its digest."""
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
        """Return it with its target, as another process may know that."""
        return replace(self, target=target.detached())
