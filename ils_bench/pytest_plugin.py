"""A real LDAP directory as a pytest fixture: `ldap_directory`.

    def test_a_new_user_can_be_found(ldap_directory):
        connection = ldap3.Connection(ldap_directory.url, auto_bind=True)
        ...

Each test gets a directory of its own, as it would get a `tmp_path`; a marker sets its arguments:

    @pytest.mark.ldap_directory(entries=0, ldif="tests/people.ldif", suffix="dc=example,dc=com")

Keyword arguments are as in `sitebench.LdapDirectory`. To share a directory, make it in a fixture of
your own with `ldap_directory_factory`, which closes all its directories when the session ends:

    @pytest.fixture(scope="session")
    def staff(ldap_directory_factory):
        return ldap_directory_factory(entries=100_000)
"""

from __future__ import annotations

import pytest

from sitebench.suite_base.markers import fixtures_of


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "ldap_directory(**arguments): arguments of sitebench.LdapDirectory for the fixture.",
    )


ldap_directory, ldap_directory_factory = fixtures_of(
    "ils_bench.targets.ldap_directory:LdapDirectory", "ldap_directory", "LDAP directory"
)
