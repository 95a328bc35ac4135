"""Pools harvested once for all tests of this package, in a temporary folder."""

from pathlib import Path

import pytest

from sitebench.seeders import PROFILES, Profile
from sitebench.seeders.people import People, Spec, generate


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder that no other session has written to."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> Profile:
    """Each profile in turn."""
    value: Profile = request.param
    return value


@pytest.fixture
def people(cache: Path, profile: Profile) -> People:
    """Return a thousand people of the default locales."""
    return generate(Spec(1_000, profile=profile), cache=cache)
