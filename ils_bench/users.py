"""Locust users that run a sequence: import this in a locustfile, and subclass.

    from ils_bench.sequences import Bind, Connect, Repeat, Search, Sequence, Unbind
    from ils_bench.users import SequenceUser

    class PrefixUser(SequenceUser):
        sequence = Sequence(
            "prefix",
            (Connect(), Bind(), Repeat(50, (Search(filter="(cn=Anna*)"),)), Unbind()),
            counts="search",
        )

Importing it gives Locust the options of this suite, and its lanes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ils_bench.options import IlsOptions, LocustOptions
from ils_bench.sequences import Sequence
from ils_bench.suite_run import IlsRun
from sitebench.errors import BadInput
from sitebench.locust.user import LaneUser
from sitebench.scenario.script import Script, name_of, read
from sitebench.suite_base.joining import join


class SequenceUser(LaneUser):
    """One lane that repeats a sequence."""

    abstract = True
    sequence: ClassVar[Sequence]

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence:
        """Return the sequence; override it where it depends on options."""
        return cls.sequence

    def program(self) -> str:
        return type(self).sequence.name


class ScenarioUser(LaneUser):
    """One lane that does what a scenario file says."""

    abstract = True
    scenario: ClassVar[str | None] = None
    """FILE.toml, or FILE.toml:OPERATION; None for that of --scenario."""

    @classmethod
    def build(cls, options: IlsOptions) -> Script:
        """Return the scenario; its data are read here."""
        return read(cls._named(options))

    @classmethod
    def _named(cls, options: Any) -> str:
        named = cls.scenario or options.scenario
        if named is None:
            raise BadInput(f"{cls.__name__} needs a scenario", "name it with --scenario FILE.toml")
        return str(named)

    def program(self) -> str:
        return name_of(self._named(self.environment.parsed_options))


join(LocustOptions, "Directory options", IlsRun)
