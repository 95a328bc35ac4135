"""Populations: the engine's people, and the pools of their values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from sitebench._engine import Contents, Population, hash_facts, profile_facts
from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_BASE, DEFAULT_LOCALES, DEFAULT_POOL, HASHES, Profile
from sitebench.seeders.pools import PoolsFile, pools
from sitebench.system.native_errors import translated

if TYPE_CHECKING:
    from concurrent.futures import Future

_PEOPLE_AT_A_TIME = 10_000
_LOOKED_AT = 100
"""Number of people among whom a name in ASCII is searched."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The parameters of a population besides its pools."""

    size: int
    seed: int = 1997
    profile: Profile = "paper"
    locales: tuple[str, ...] = DEFAULT_LOCALES
    base: str = DEFAULT_BASE
    hash: str | None = None
    """The hash of passwords, if the profile has passwords; None is {SSHA}."""
    one_password: str | None = None
    """The password of all people; None if people have different passwords."""
    hash_pool: int | None = None
    """Number of different passwords, which people share in turn; with 0 no two people share one.
    None is 0 with a quick hash, and DEFAULT_POOL with a slow hash."""

    @property
    def pool(self) -> int | None:
        """Number of different passwords; None if no two people share a password."""
        if self.hash_pool is not None:
            return self.hash_pool or None
        if self.hash is None:
            return None
        _, _, slow, _ = hash_facts(self.hash)
        return DEFAULT_POOL if slow else None

    def to_dict(self) -> dict[str, object]:
        names = ("seed", "size", "profile", "locales", "base")
        fields = {name: getattr(self, name) for name in names} | {"locales": [*self.locales]}
        if (self.hash, self.one_password, self.hash_pool) != (None, None, None):
            passwords = {"hash": self.hash or HASHES[0], "one": self.one_password}
            fields["passwords"] = passwords | ({} if self.pool is None else {"pool": self.pool})
        return fields

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Spec:
        fields = {**stored, "locales": tuple(stored["locales"])}
        if (passwords := fields.pop("passwords", None)) is not None:
            fields |= {"hash": passwords["hash"], "one_password": passwords.get("one")}
            spec = cls(**fields)
            # `hash_pool` is unset if the pool is the default.
            if spec.pool != (pool := passwords.get("pool")):
                fields["hash_pool"] = pool or 0
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class People:
    """A population, with the spec and the pools from which other processes make it again."""

    population: Population
    spec: Spec
    pools: PoolsFile

    def manifest(self) -> dict[str, object]:
        """Return the identity of the people, without paths."""
        return {
            "digest": self.population.digest,
            "spec": self.spec.to_dict(),
            "pools_digest": self.pools.digest,
        }


def generate(spec: Spec, *, cache: Path | None = None) -> People:
    """Return the people of `spec`; draw their pools if the cache has none."""
    no_people_or_seed_below_zero(spec.size, spec.seed)
    with translated():
        _check_passwords(spec)
    source = pools(spec.locales, cache=cache)
    with translated():
        population = Population(str(source.path), json.dumps(spec.to_dict()))
    return People(population, spec, source)


def _check_passwords(spec: Spec) -> None:
    from sitebench.monitor.memory import usable_bytes

    _, _, has_passwords = profile_facts(spec.profile)
    if not has_passwords and "passwords" in spec.to_dict():
        raise BadInput(
            f"people of the profile {spec.profile} have no passwords",
            "leave --hash out, or name people who log in: --profile person",
        )
    if spec.hash is None:
        return
    _, scheme, slow, memory = hash_facts(spec.hash)
    if spec.profile == "ad" and slow:
        raise BadInput(
            f"Active Directory takes no {scheme}, only passwords that it hashes itself",
            "leave --hash out",
        )
    if memory > (usable := usable_bytes()):
        raise BadInput(
            f"{spec.hash} takes {memory / 2**30:,.1f} GiB of memory for each login, and there are "
            f"{usable / 2**30:,.1f} here",
            "name less memory, such as argon2:64m",
        )


def no_people_or_seed_below_zero(size: int, seed: int) -> None:
    if size < 0 or seed < 0:
        raise BadInput("a population has a negative size or seed", "use whole numbers from 0 on")


def easily_typed(population: Population) -> int:
    """Return the first person with a name in ASCII; person 0 if no such person is near."""
    first = range(min(population.size, _LOOKED_AT))
    return next((index for index in first if population.name(index).isascii()), 0)


@contextmanager
def contents_meanwhile(population: Population) -> Iterator[Future[Contents]]:
    """Digest the population in a thread, which an exception in the block ends early."""
    from concurrent.futures import ThreadPoolExecutor

    abandoned = Event()

    def count() -> Contents:
        contents = population.contents(0, 0)
        for start in range(0, population.size, _PEOPLE_AT_A_TIME):
            if abandoned.is_set():
                break
            contents += population.contents(start, min(start + _PEOPLE_AT_A_TIME, population.size))
        return contents

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(count)
        try:
            yield future
        except BaseException:
            abandoned.set()
            raise
