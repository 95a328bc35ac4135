"""Groups of the people in a directory: how many, of which size and class."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import structs

from ils_bench.options import GroupOptions
from sitebench._engine import Groups, Population
from sitebench.errors import BadInput
from sitebench.system.native_errors import translated

EVERYONE = 0
"""A size that is as many as there are people."""

_CLASSES = {"posix": "posixGroup", "ad": "group"}
"""By profile; others have groupOfNames, which every directory knows (RFC 4519)."""
_OF_BOTH = "groupOfNames+posixGroup"


class GroupSpec(msgspec.Struct, frozen=True):
    """What `--groups` and the options beside it say; `native/shared/people` says what they mean."""

    groups: int
    members: tuple[int, ...] = (10,)
    depth: int = 1
    in_all: int = 0

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any] | None) -> GroupSpec | None:
        """Return what another process sent; None for no groups."""
        return None if facts is None else cls(**{**facts, "members": tuple(facts["members"])})

    def of(self, population: Population, profile: str, *, auxiliary: bool = False) -> Groups:
        """Return the groups; `auxiliary`: whether a posixGroup must be something else as well."""
        kind = _CLASSES.get(profile, "groupOfNames")
        spec = {
            "count": self.groups,
            "members": [population.size if m == EVERYONE else m for m in self.members],
            "depth": self.depth,
            "in_all": self.in_all,
            "class": _OF_BOTH if auxiliary and profile == "posix" else kind,
        }
        with translated():
            return Groups(population, json.dumps(spec))


def attribute_of(profile: str) -> str:
    """Return the attribute of a group that has its members."""
    return "memberUid" if profile == "posix" else "member"


def spec_of_groups(options: GroupOptions) -> GroupSpec | None:
    """Return what options ask for; None for no groups."""
    values = {field.name: vars(options)[field.name] for field in structs.fields(GroupSpec)}
    if options.groups is not None:
        return GroupSpec(**values)
    for field in structs.fields(GroupSpec):
        if field.name != "groups" and values[field.name] != field.default:
            option = field.name.replace("_", "-")
            raise BadInput(f"--{option} is said of no groups", "add --groups with their number")
    return None


def ldif_of(groups: Groups | None) -> Iterator[bytes]:
    """Yield each group; those in others come first, as some directories insist on it."""
    if groups is not None:
        for number in reversed(range(groups.count)):
            yield groups.ldif(number, number + 1)
