"""Small populations without Faker, from the pools of the Rust tests."""

import json
from pathlib import Path

from sitebench._engine import Population

POOLS = Path(__file__).parents[2] / "native/shared/people/tests/data/three.pools"
LOCALES = ("en_US", "ru_RU", "ja_JP")
BASE = "ou=Dynamic,o=Intranet"


def small_population(
    size: int = 100, *, seed: int = 1, profile: str = "paper", base: str = BASE
) -> Population:
    """Return `size` people of three locales, two of them in non-Latin scripts."""
    spec = {"seed": seed, "size": size, "profile": profile, "locales": LOCALES, "base": base}
    return Population(str(POOLS), json.dumps(spec))
