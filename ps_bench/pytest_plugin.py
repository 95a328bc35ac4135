"""Web sites as pytest fixtures: `personalized_site`, `user_property_db` (docs/pytest.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.suite_base.markers import call_marked, fixtures_of

_MARKERS = {
    "user_property_db": "entries, seed and locales of the fixture of that name.",
    "personalized_site": "arguments of sitebench.PersonalizedSite for the fixture of that name.",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, explanation in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}(**arguments): {explanation}")


@pytest.fixture
def user_property_db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Give the test a user-property database (SQLite) of 1,000 people, which it can change."""
    from sitebench.options.arguments import check_arguments
    from sitebench.seeders import DEFAULT_LOCALES
    from sitebench.seeders.upd import UpdSpec, open_cached, temporary_copy

    @check_arguments
    def database(
        entries: int = 1_000, seed: int = 1997, locales: tuple[str, ...] = DEFAULT_LOCALES
    ) -> Any:
        return open_cached(UpdSpec(entries, seed, locales))

    with temporary_copy(call_marked(request, "user_property_db", database), tmp_path) as path:
        yield path


personalized_site, personalized_site_factory = fixtures_of(
    "ps_bench.targets.personalized_site:PersonalizedSite", "personalized_site", "personalized site"
)
