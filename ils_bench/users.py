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

from locust import events

from ils_bench.options import IlsOptions, LocustOptions
from ils_bench.programs import script_name, script_of
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
        found = script_of(options) if cls.scenario is None else read(cls.scenario)
        if found is None:
            raise BadInput(f"{cls.__name__} needs a scenario", "name it with --scenario FILE.toml")
        return found

    def program(self) -> str:
        if (own := type(self).scenario) is not None:
            return name_of(own)
        return script_name(self.environment.parsed_options) or ""


def _choose(environment: Any, **_: Any) -> None:
    """Of the suite's own users, have that of a file run where there is a file, and else the others.

    Those that were named are left as they are.
    """
    options = environment.parsed_options
    if getattr(options, "user_classes", None):
        return
    named = script_name(options) is not None

    def stays(user: type[Any]) -> bool:
        own = user.__module__ == "ils_bench.locustfile"
        return not own or issubclass(user, ScenarioUser) == named

    environment.user_classes = [user for user in environment.user_classes if stays(user)]
    if environment.available_user_classes:
        kept = {name: u for name, u in environment.available_user_classes.items() if stays(u)}
        environment.available_user_classes = kept


# Locust's hooks are untyped.
_hooks: Any = events
_hooks.init.add_listener(_choose)
join(LocustOptions, "Directory options", IlsRun)
