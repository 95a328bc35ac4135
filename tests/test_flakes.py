"""Repeated tests in a separate pytest run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ONE = "tests/test_units.py"


def ran(*argv: str) -> str:
    command = [sys.executable, "-m", *argv]
    made = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout


@pytest.mark.parametrize("more", [(), ("-n2",)])
def test_all_repetitions_of_a_test_are_run(more: tuple[str, ...]) -> None:
    """With xdist each test ran once, but the summary claimed all repetitions."""
    name = f"{ONE}::test_sizes_in_a_list_are_separated_by_commas"
    found = ran("tests.flakes", "--times", "3", "--busy", "0", *more, name)
    assert "failed 0 times; each test ran 3 times" in found
    assert "3 passed" in found
