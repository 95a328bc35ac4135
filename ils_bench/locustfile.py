"""The paper's directory workloads in Locust: one user class per sequence.

A locustfile with them is one line: `from ils_bench.locustfile import *`.
"""

from __future__ import annotations

from ils_bench import sequences
from ils_bench.login import logins
from ils_bench.options import IlsOptions
from ils_bench.programs import LOGIN
from ils_bench.sequences import Sequence
from ils_bench.users import ScenarioUser, SequenceUser
from sitebench.locust.user import LaneUser
from sitebench.scenario.script import Script


class LookupUser(SequenceUser):
    """Looks 100 random people up per connection, all attributes (Table 2)."""

    sequence = sequences.LOOKUP


class ConnectUser(SequenceUser):
    """Connects, binds anonymously, leaves (Table 2)."""

    sequence = sequences.CONNECT


class AddUser(SequenceUser):
    """Enters 100 new people per connection (Table 2)."""

    sequence = sequences.ADD


class RetrieveUser(SequenceUser):
    """Lists everyone who is online."""

    sequence = sequences.RETRIEVE


class SessionUser(SequenceUser):
    """The nine steps of Table 3, thinking in between until `--session` is over."""

    sequence = sequences.built_in("ils-user", session_s=1200.0)

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence:
        """Return a session as long as asked for, in the words of the profile."""
        return sequences.built_in("ils-user", options.profile, options.session)


class RegisterUser(SequenceUser):
    """Registers, announces an application, stays online, leaves."""

    sequence = sequences.built_in("register", "paper")

    @classmethod
    def build(cls, options: IlsOptions) -> Sequence:
        """Return the words of the profile asked for."""
        return sequences.built_in("register", options.profile)


class LoginUser(LaneUser):
    """Logs people in, one after the other: of a profile with passwords, or of --accounts."""

    # The default people have no passwords.
    by_name = True

    @classmethod
    def build(cls, options: IlsOptions) -> Script:
        """Return what --how says."""
        return logins.script_of(options)

    def program(self) -> str:
        return LOGIN


class FileUser(ScenarioUser):
    """Does what the file of --scenario says."""
