"""Programs that read what the planner writes."""

from pathlib import Path

import pytest

from tests.support.libreoffice import LibreOffice
from tests.support.programs import required_program


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")


@pytest.fixture(scope="session")
def libreoffice(tmp_path_factory: pytest.TempPathFactory) -> LibreOffice:
    """Return a LibreOffice that computes every cell anew when it opens a workbook."""
    return LibreOffice(required_program("soffice"), tmp_path_factory.mktemp("libreoffice"))
