"""Servers for faults, and the folder that is checked after each fault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench.targets.personalized_site import PersonalizedSite
from tests.faults.served import LOCALES, PEOPLE, Served
from tests.support.aftermath import Ground


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """A folder for commands, which is checked for remains at the end."""
    made = Ground(tmp_path)
    yield made
    made.assert_clean()


@pytest.fixture(scope="session")
def directory() -> Iterator[Served]:
    with LdapDirectory(PEOPLE, locales=LOCALES) as made:
        yield Served("ldap", made.port)


@pytest.fixture(scope="session")
def site() -> Iterator[Served]:
    with PersonalizedSite(PEOPLE, locales=LOCALES) as made:
        yield Served("http", made.port)


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Served:
    """One of the servers, by name."""
    found: Served = request.getfixturevalue(request.param)
    return found
