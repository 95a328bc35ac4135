"""Run files to report on, and a browser to look with."""

from pathlib import Path

import pytest

from sitebench.report import model
from tests.report import made
from tests.support.programs import required_program


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with everything in it."""
    return made.write(tmp_path_factory.mktemp("made") / "made.sitebench")


@pytest.fixture(scope="session")
def report(run: Path) -> model.Report:
    """The same, loaded."""
    return model.load([run])
