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

from typing import ClassVar

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.programs import LOGIN
from ils_bench.sequences import Sequence
from ils_bench.suite_run import IlsRun
from sitebench.locust.user import LaneUser
from sitebench.scenario.script import Script
from sitebench.suite_base import scenario_user
from sitebench.suite_base.joining import join


class SequenceUser(LaneUser):
    """One lane that repeats a sequence."""

    abstract = True
    sequence: ClassVar[Sequence | Script]

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence | Script:
        """Return the sequence; override it where it depends on options."""
        return cls.sequence

    def program(self) -> str:
        return type(self).sequence.name


class ScenarioUser(scenario_user.ScenarioUser):
    """One lane that does what a scenario file says."""

    abstract = True
    points = POINTS


# The default people have no passwords.
_CLASSES = scenario_user.user_classes(ScenarioUser, by_name=[LOGIN])
# The page's form begins with the first one.
USERS = {"LookupUser": _CLASSES["LookupUser"], **_CLASSES}
join("Directory options", IlsRun)
