"""Real personalized sites as pytest fixtures: `personalized_site`, `user_property_db`.

    def test_a_visitor_is_greeted(personalized_site):
        page = urllib.request.urlopen(personalized_site.url + "/enter?user=7").read()
        ...

Each test gets one of its own, as it would get a `tmp_path`; a marker says which one:

    @pytest.mark.personalized_site(entries=20)

Keyword arguments are those of `sitebench.PersonalizedSite`. To share one, make it in a fixture of
your own with `personalized_site_factory`, which closes everything it made when the session ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitebench.suite_base.markers import marked

if TYPE_CHECKING:
    from ps_bench.targets.personalized_site import PersonalizedSite

_MARKERS = {
    "user_property_db": "entries, seed and locales of the fixture of that name.",
    "personalized_site": "arguments of sitebench.PersonalizedSite for the fixture of that name.",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, explanation in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}(**arguments): {explanation}")


@pytest.fixture
def user_property_db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Give the test a user-property database (SQLite) that it may change, 1,000 people in it."""
    from sitebench.seeders.upd import UpdSpec, open_cached, temporary_copy

    arguments = {"entries": 1_000} | marked(request, "user_property_db")
    spec = UpdSpec(size=arguments.pop("entries"), **arguments)
    with temporary_copy(open_cached(spec), tmp_path) as path:
        yield path


@pytest.fixture
def personalized_site(request: pytest.FixtureRequest) -> Iterator[PersonalizedSite]:
    """Give the test a running personalized site of its own, 1,000 people known to it."""
    from ps_bench.targets.personalized_site import PersonalizedSite

    with PersonalizedSite(**marked(request, "personalized_site")) as site:
        yield site


@pytest.fixture(scope="session")
def personalized_site_factory() -> Iterator[Callable[..., PersonalizedSite]]:
    """Give a function that starts sites which run until the session ends."""
    from ps_bench.targets.personalized_site import PersonalizedSite

    with contextlib.ExitStack() as running:
        yield lambda **arguments: running.enter_context(PersonalizedSite(**arguments))
