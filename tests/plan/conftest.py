"""Programs that read the planner's output."""

import pytest

from tests.support.libreoffice import LibreOffice
from tests.support.programs import required_program


@pytest.fixture(scope="session")
def libreoffice(tmp_path_factory: pytest.TempPathFactory) -> LibreOffice:
    """Return a LibreOffice that recomputes every cell when it opens a workbook."""
    return LibreOffice(required_program("soffice"), tmp_path_factory.mktemp("libreoffice"))
