"""Size limit of a slapd's database, and whether people fit into it."""

from __future__ import annotations

from typing import Final

from ils_bench.targets.password_schemes import server_of
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import SitebenchError
from sitebench.seeders.people import Spec

_PACKAGED: Final = 1 << 30
"""Size limit in Debian's package (olcDbMaxSize); clients cannot read the actual one."""
_ENOUGH: Final = 0.8
_BYTES: Final = {"person": 1_600, "posix": 1_650, "paper": 4_600}
"""Bytes of a person in an mdb database with the package's indexes; measured with 20,000 people and
{SSHA}."""
_FULL: Final = ("txn_commit failed", "entry store failed")
"""Diagnostics of slapd 2.5 for a full database, with the result other (80)."""


def _is_slapd(target: OpenDirectory) -> bool:
    server = server_of(target.facts)
    return server is not None and server.name == "OpenLDAP"


def say_room(target: OpenDirectory, people: Spec) -> None:
    takes = people.size * _BYTES.get(people.profile, 0)
    if takes < _ENOUGH * _PACKAGED or not _is_slapd(target):
        return
    from sitebench.measure.command import say

    say(
        f"{people.size:,} people of the profile {people.profile} take about "
        f"{takes / 2**30:.1f} GiB of a slapd's database, and as packaged it has 1 GiB: see that "
        "its olcDbMaxSize (maxsize) is larger"
    )


def explain_full(target: OpenDirectory, error: SitebenchError) -> SitebenchError:
    """Return an error of slapd, with the remedy if its database is full."""
    if not (_is_slapd(target) and any(phrase in error.message for phrase in _FULL)):
        return error
    return type(error)(
        error.message,
        "its database is full, as it looks: set olcDbMaxSize (maxsize; 1 GiB as packaged) to more, "
        "and run it again to go on",
    )
