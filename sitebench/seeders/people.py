"""Populations: the engine's people, with the pools they are made from found or made first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Literal

from sitebench._engine import Contents, Population
from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_BASE
from sitebench.seeders.pools import PoolsFile, pools
from sitebench.suite_base.options import DEFAULT_LOCALES
from sitebench.system.native_errors import translated

Profile = Literal["paper", "small", "ils"]

_PEOPLE_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class Spec:
    """What, besides the pools, determines a population."""

    size: int
    seed: int = 1997
    profile: Profile = "paper"
    locales: tuple[str, ...] = DEFAULT_LOCALES
    base: str = DEFAULT_BASE

    def to_dict(self) -> dict[str, object]:
        """Return what the engine reads and a manifest keeps."""
        return {
            "seed": self.seed,
            "size": self.size,
            "profile": self.profile,
            "locales": list(self.locales),
            "base": self.base,
        }


@dataclass(frozen=True, slots=True)
class People:
    """A population, and what another process or a reader of the run file needs to make it again."""

    population: Population
    spec: Spec
    pools: PoolsFile

    @property
    def spec_json(self) -> str:
        """The spec as `sitebench._engine.Population` takes it, with `pools.path`."""
        return json.dumps(self.spec.to_dict())

    def manifest(self) -> dict[str, object]:
        """Return what identifies these people, without paths of this machine."""
        return {
            "digest": self.population.digest,
            "spec": self.spec.to_dict(),
            "pools_digest": self.pools.digest,
        }


def generate(spec: Spec, *, cache: Path | None = None) -> People:
    """Return the people of `spec`; harvests their pools if this machine has none yet."""
    no_people_or_seed_below_zero(spec.size, spec.seed)
    source = pools(spec.locales, cache=cache)
    with translated():
        population = Population(str(source.path), json.dumps(spec.to_dict()))
    return People(population, spec, source)


def no_people_or_seed_below_zero(size: int, seed: int) -> None:
    """Refuse numbers that no population can have."""
    if size < 0 or seed < 0:
        raise BadInput("a population has a negative size or seed", "use whole numbers from 0 on")


@contextmanager
def contents_meanwhile(population: Population) -> Iterator[Future[Contents]]:
    """Digest the whole population in a thread; an exception in the block ends it early."""
    left = Event()

    def count() -> Contents:
        contents = population.contents(0, 0)
        for start in range(0, population.size, _PEOPLE_AT_A_TIME):
            if left.is_set():
                break
            contents += population.contents(start, min(start + _PEOPLE_AT_A_TIME, population.size))
        return contents

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(count)
        try:
            yield future
        except BaseException:
            left.set()
            raise
