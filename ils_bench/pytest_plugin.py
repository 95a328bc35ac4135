"""Real servers as pytest fixtures: `ldap_directory`, `user_property_db`, `personalized_site`.

    def test_a_new_user_can_be_found(ldap_directory):
        connection = ldap3.Connection(ldap_directory.url, auto_bind=True)
        ...

Each test gets a server of its own, as it would get a `tmp_path`; a marker says which one:

    @pytest.mark.ldap_directory(entries=0, ldif="tests/people.ldif", suffix="dc=example,dc=com")

Keyword arguments are those of `sitebench.LdapDirectory` and `sitebench.PersonalizedSite`. To
share one, make it in a fixture of your own with `ldap_directory_factory` or
`personalized_site_factory`, which close everything they made when the session ends:

    @pytest.fixture(scope="session")
    def staff(ldap_directory_factory):
        return ldap_directory_factory(entries=100_000)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ils_bench.targets.ldap_directory import LdapDirectory
    from ps_bench.targets.personalized_site import PersonalizedSite

MARKERS = {
    "ldap_directory": "arguments of sitebench.LdapDirectory for the fixture of that name.",
    "user_property_db": "entries, seed and locales of the fixture of that name.",
    "personalized_site": "arguments of sitebench.PersonalizedSite for the fixture of that name.",
}


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    for name, explanation in MARKERS.items():
        config.addinivalue_line("markers", f"{name}(**arguments): {explanation}")


def _marked(request: pytest.FixtureRequest, name: str) -> dict[str, Any]:
    """Return what the test's markers ask for; the nearest one has the last word."""
    asked: dict[str, Any] = {}
    for marker in reversed(list(request.node.iter_markers(name))):
        if marker.args:
            raise pytest.UsageError(f"@pytest.mark.{name} takes keyword arguments only")
        asked |= marker.kwargs
    return asked


@pytest.fixture
def ldap_directory(request: pytest.FixtureRequest) -> Iterator[LdapDirectory]:
    """Give the test a running LDAP directory of its own, 1,000 people in it unless marked."""
    from ils_bench.targets.ldap_directory import LdapDirectory

    with LdapDirectory(**_marked(request, "ldap_directory")) as directory:
        yield directory


@pytest.fixture(scope="session")
def ldap_directory_factory() -> Iterator[Callable[..., LdapDirectory]]:
    """Give a function that starts directories which run until the session ends."""
    from ils_bench.targets.ldap_directory import LdapDirectory

    with contextlib.ExitStack() as running:
        yield lambda **arguments: running.enter_context(LdapDirectory(**arguments))


@pytest.fixture
def user_property_db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Give the test a user-property database (SQLite) that it may change, 1,000 people in it."""
    from seeders.upd import UpdSpec, cached, copied

    spec = UpdSpec(**{"size": 1_000} | _marked_entries(request))
    with copied(cached(spec), tmp_path) as path:
        yield path


def _marked_entries(request: pytest.FixtureRequest) -> dict[str, Any]:
    asked = _marked(request, "user_property_db")
    return {"size" if name == "entries" else name: value for name, value in asked.items()}


@pytest.fixture
def personalized_site(request: pytest.FixtureRequest) -> Iterator[PersonalizedSite]:
    """Give the test a running personalized site of its own, 1,000 people known to it."""
    from ps_bench.targets.personalized_site import PersonalizedSite

    with PersonalizedSite(**_marked(request, "personalized_site")) as site:
        yield site


@pytest.fixture(scope="session")
def personalized_site_factory() -> Iterator[Callable[..., PersonalizedSite]]:
    """Give a function that starts sites which run until the session ends."""
    from ps_bench.targets.personalized_site import PersonalizedSite

    with contextlib.ExitStack() as running:
        yield lambda **arguments: running.enter_context(PersonalizedSite(**arguments))
