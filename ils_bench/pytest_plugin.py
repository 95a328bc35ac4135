"""A real LDAP directory as a pytest fixture: `ldap_directory` (docs/pytest.md)."""

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
