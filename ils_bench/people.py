"""The people of a directory, as its options say and as other processes are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from seeders.people import Profile, Spec


class PeopleAsked(Protocol):
    """Options that say which people."""

    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def profile(self) -> str: ...  # noqa: D102
    @property
    def locales(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def base(self) -> str: ...  # noqa: D102


def spec_of(asked: PeopleAsked, size: int) -> Spec:
    """Return the people that options ask for."""
    profile = cast("Profile", asked.profile)
    return Spec(size, asked.seed, profile, asked.locales, asked.base)


def read_spec(found: Mapping[str, Any]) -> Spec:
    """Read what `Spec.to_dict` made, in another process."""
    return Spec(**{**found, "locales": tuple(found["locales"])})
