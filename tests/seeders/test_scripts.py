"""`python seeders/NAME.py` does what `sitebench SUITE seed` does."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "seeders"
PEOPLE = ("--entries", "10", "--locales", "en_US")
ARGUMENTS = {
    "directory": ("--to", "people.ldif", *PEOPLE),
    "database": ("people.sqlite", *PEOPLE),
    "docroot": ("--to", "docroot", "--files-per-class", "1"),
}


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_a_seeder_is_a_file_to_run(script: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, script, *ARGUMENTS[script.stem]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert any(each.stat().st_size > 0 for each in tmp_path.rglob("*") if each.is_file())
