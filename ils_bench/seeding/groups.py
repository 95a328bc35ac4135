"""Groups in directories and files.

A group's description names its owner and tells whether it is complete. So groups need no journal:
the same command continues an interrupted one, and leaves groups of other owners.
"""

from __future__ import annotations

from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Groups, check_groups, remove_groups, seed_groups
from sitebench.measure.progress import bar
from sitebench.system.native_errors import translated
from sitebench.units import format_bytes, plural


def seed_groups_of(target: OpenDirectory, groups: Groups) -> str:
    with bar(f"adding groups to {target.address}", groups.count) as move, translated():
        added, piece = seed_groups(target.to_engine(), groups, move)
    message = f"added {added:,} of {plural(groups.count, 'group')}"
    if piece is not None:
        pieces = f"in pieces of {format_bytes(piece)}"
        message += f"; it does not take the largest in one message, but {pieces}"
    return message


def verify_groups(target: OpenDirectory, groups: Groups) -> str:
    with bar(f"reading groups of {target.address}", groups.count) as move, translated():
        members, has_member_of = check_groups(target.to_engine(), groups, move)
    behaviour = "shows them as memberOf of people" if has_member_of else "keeps no memberOf"
    many = f"{plural(groups.count, 'group')} with {plural(members, 'member')}"
    return f"all {many} verified; it {behaviour}"


def remove_groups_of(target: OpenDirectory, groups: Groups) -> str:
    with bar(f"removing groups from {target.address}", groups.count) as move, translated():
        return f"removed {plural(remove_groups(target.to_engine(), groups, move), 'group')}"


def has_group(target: OpenDirectory, number: int) -> bool:
    """Return whether a directory has a group of this number."""
    from ils_bench.targets.probe import connect, exists

    with connect(target.address, target.who, target.trust, brief=True) as connection:
        return exists(connection, f"cn=group.{number},{target.base}")
