"""A directory and a folder for each test of a scenario file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario.people import Place, a_place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as opened:
        yield opened
