"""Run files to report on, and a browser to look with."""

from pathlib import Path

import pytest

from sitebench.report import model
from sitebench.report.suite import ReportHalf
from tests.report import made
from tests.support.programs import required_program


@pytest.fixture(scope="session")
def chromedriver() -> Path:
    """Return the driver of a browser."""
    required_program("chromium")
    return required_program("chromedriver")


@pytest.fixture(scope="session")
def halves() -> dict[str, ReportHalf]:
    """Return both halves, as the command line hands them over."""
    from sitebench.cli.main import _report_halves

    return _report_halves()


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file with everything in it."""
    return made.write(tmp_path_factory.mktemp("made") / "made.sitebench")


@pytest.fixture(scope="session")
def report(run: Path, halves: dict[str, ReportHalf]) -> model.Report:
    """The same, loaded."""
    return model.load([run], halves)
