"""A browser, and a directory that counts what it is asked."""

from pathlib import Path

import pytest

from tests.locustfiles.conftest import counting
from tests.support.programs import required_program

__all__ = ["counting"]


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")
