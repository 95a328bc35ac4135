from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ils_bench.options import GroupOptions
from sitebench._engine import Groups, Population
from sitebench.errors import BadInput
from sitebench.options.spelling import long_option
from sitebench.system.native_errors import translated

EVERYONE = 0

_CLASSES = {"posix": "posixGroup", "ad": "group"}
"""Classes by profile; the default is groupOfNames (RFC 4519)."""
_OF_BOTH = "groupOfNames+posixGroup"


GroupSpec = Mapping[str, Any]
"""`--groups` and its options, in the form of `native/shared/people`."""


def groups_of(
    spec: GroupSpec | None, population: Population, profile: str, *, auxiliary: bool = False
) -> Groups | None:
    """Return the groups; `auxiliary` if posixGroup is an auxiliary class of the directory."""
    if spec is None:
        return None
    kind = _CLASSES.get(profile, "groupOfNames")
    facts = {
        **spec,
        "members": [population.size if m == EVERYONE else m for m in spec["members"]],
        "class": _OF_BOTH if auxiliary and profile == "posix" else kind,
    }
    with translated():
        return Groups(population, json.dumps(facts))


def attribute_of(profile: str) -> str:
    return "memberUid" if profile == "posix" else "member"


def spec_of_groups(options: GroupOptions) -> GroupSpec | None:
    shape = {name: vars(options)[name] for name in ("members", "depth", "in_all")}
    if options.groups is not None:
        return {"count": options.groups, **shape}
    for name, value in shape.items():
        if value != vars(GroupOptions)[name]:
            option = long_option(name)
            raise BadInput(f"{option} is said of no groups", "add --groups with their number")
    return None


def ldif_of(groups: Groups | None) -> Iterator[bytes]:
    """Yield a group after its member groups; some directories require this order."""
    if groups is not None:
        for number in reversed(range(groups.count)):
            yield groups.ldif(number, number + 1)
