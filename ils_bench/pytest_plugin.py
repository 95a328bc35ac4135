"""A real LDAP directory as a pytest fixture: `ldap_directory`.

    def test_a_new_user_can_be_found(ldap_directory):
        connection = ldap3.Connection(ldap_directory.url, auto_bind=True)
        ...

Each test gets a directory of its own, as it would get a `tmp_path`; a marker says which one:

    @pytest.mark.ldap_directory(entries=0, ldif="tests/people.ldif", suffix="dc=example,dc=com")

Keyword arguments are those of `sitebench.LdapDirectory`. To share one, make it in a fixture of
your own with `ldap_directory_factory`, which closes everything it made when the session ends:

    @pytest.fixture(scope="session")
    def staff(ldap_directory_factory):
        return ldap_directory_factory(entries=100_000)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from sitebench.suite_base.markers import call_marked, factory

if TYPE_CHECKING:
    from ils_bench.targets.ldap_directory import LdapDirectory


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ldap_directory(**arguments): arguments of sitebench.LdapDirectory for the fixture.",
    )


@pytest.fixture
def ldap_directory(request: pytest.FixtureRequest) -> Iterator[LdapDirectory]:
    """Give the test a running LDAP directory of its own, 1,000 people in it unless marked."""
    from ils_bench.targets.ldap_directory import LdapDirectory

    with call_marked(request, "ldap_directory", LdapDirectory) as directory:
        yield directory


@pytest.fixture(scope="session")
def ldap_directory_factory() -> Iterator[Callable[..., LdapDirectory]]:
    """Give a function that starts directories which run until the session ends."""
    from ils_bench.targets.ldap_directory import LdapDirectory

    with factory(LdapDirectory) as started:
        yield started
