"""A folder that is searched for secrets, and the places where secrets are permitted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trust.searching import Searched


@pytest.fixture
def searched(tmp_path: Path) -> Iterator[Searched]:
    folder = tmp_path / "searched"
    folder.mkdir()
    found = Searched(folder)
    with found.watched():
        yield found


@pytest.fixture
def password_file(searched: Searched, tmp_path: Path) -> str:
    """The folder of the password file, which is not searched."""
    path = tmp_path / "password"
    path.write_text(f"{searched.secret}\n")
    return str(path)
