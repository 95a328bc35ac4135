"""Run files for reports, and a browser that shows the reports."""

from pathlib import Path

import pytest

from sitebench.report import model
from tests.report import made


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with all kinds of content."""
    return made.write(tmp_path_factory.mktemp("made") / "made.sitebench")


@pytest.fixture(scope="session")
def report(run: Path) -> model.Report:
    return model.load([run])
