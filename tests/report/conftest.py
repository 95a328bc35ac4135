"""Run files to report on, and a browser to look with."""

from pathlib import Path

import pytest

from sitebench.report import model
from tests.report import made


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with everything in it."""
    return made.write(tmp_path_factory.mktemp("made") / "made.sitebench")


@pytest.fixture(scope="session")
def report(run: Path) -> model.Report:
    """The same, loaded."""
    return model.load([run])
