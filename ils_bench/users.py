"""Locust users that run a sequence: import this in a locustfile, and subclass.

    from ils_bench.sequences import Bind, Connect, Repeat, Search, Sequence, Unbind
    from ils_bench.users import SequenceUser

    class PrefixUser(SequenceUser):
        sequence = Sequence(
            "prefix",
            (Connect(), Bind(), Repeat(50, (Search(filter="(cn=Anna*)"),)), Unbind()),
            counts="search",
        )

Importing it gives Locust the options of the directory half and joins it to the lanes.
"""

from __future__ import annotations

from typing import Any, ClassVar

from locust import events

from ils_bench.options import CockpitOptions, IlsOptions
from ils_bench.sequences import Sequence
from ils_bench.workload import IlsWorkload
from sitebench.bridge import Bridge
from sitebench.cockpit.cockpit import open_cockpit
from sitebench.errors import SitebenchError, leave
from sitebench.lane_user import LaneUser
from sitebench.options import add_arguments, show_for_lanes


class SequenceUser(LaneUser):
    """One lane that repeats a sequence."""

    abstract = True
    sequence: ClassVar[Sequence]

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence:
        """Return the sequence; override it where options have a say."""
        return cls.sequence

    def program(self) -> str:
        """Return the name of this user's program."""
        return type(self).sequence.name


def _add_arguments(parser: Any, **_: Any) -> None:
    add_arguments(parser, CockpitOptions, "Directory options")
    show_for_lanes(parser)


def _join(environment: Any, **_: Any) -> None:
    try:
        workload = IlsWorkload(environment)
        open_cockpit(Bridge(environment, workload), workload.session, CockpitOptions)
    except SitebenchError as error:
        leave(error)


# Locust's hooks are untyped; a decorator would make these functions so too.
_hooks: Any = events
_hooks.init_command_line_parser.add_listener(_add_arguments)
_hooks.init.add_listener(_join)
