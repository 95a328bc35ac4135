"""Real directories for the tests of the directory suite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.targets.openldap import open_openldap
from ils_bench.targets.target import OpenDirectory
from sitebench.seeders.people import Spec

LOCALES = ("en_US", "de_DE", "ja_JP")
PEOPLE = 300


@pytest.fixture(scope="session")
def openldap(slapd: Path) -> Iterator[OpenDirectory]:
    """A slapd that holds 300 people in three scripts and lets everyone write."""
    target = open_openldap(IlsOptions(), Spec(PEOPLE, locales=LOCALES))
    yield target
    target.close()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a separate journal."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"
