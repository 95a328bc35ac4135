"""Sites for the tests of the site suite."""

from collections.abc import Iterator

import pytest

from ps_bench.options import PsOptions
from ps_bench.targets.opening import open_target
from sitebench.http.site import OpenSite

LOCALES = ("en_US", "de_DE", "ja_JP")
PEOPLE = 300
SIZE = ("--entries", str(PEOPLE), "--locales", ",".join(LOCALES))
SHORT = ("--users", "8", "--threads", "1", "--warmup", "100ms", "--measure", "500ms", "--json")


@pytest.fixture
def site() -> Iterator[OpenSite]:
    """An embedded site of 300 people, on a copy of the database."""
    with open_target(PsOptions(entries=PEOPLE, locales=LOCALES)) as opened:
        yield opened
