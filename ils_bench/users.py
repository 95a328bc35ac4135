"""Locust users that run a sequence: import this in a locustfile, and subclass (docs/sequences.md).

The import adds the options and the lanes of this suite to Locust.
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
from sitebench.suite_base.suite_run import join


class SequenceUser(LaneUser):
    """A user that repeats a sequence."""

    abstract = True
    sequence: ClassVar[Sequence | Script]

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence | Script:
        """Return the sequence; a subclass can choose it by the options."""
        return cls.sequence

    def program(self) -> str:
        return type(self).sequence.name


class ScenarioUser(scenario_user.ScenarioUser):
    """A user of a scenario file."""

    abstract = True
    points = POINTS


# Logins do not run unless the user names them, because the default people have no passwords.
_CLASSES = scenario_user.user_classes(ScenarioUser, by_name=[LOGIN])
# The web form preselects the first class.
USERS = {"LookupUser": _CLASSES["LookupUser"], **_CLASSES}
join("Directory options", IlsRun)
