"""Reading what a newer version wrote: what this one does not know is passed over."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def known(cls: type[Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the fields that a dataclass of this version has."""
    names = {each.name for each in dataclasses.fields(cls)}
    return {name: value for name, value in found.items() if name in names}
