"""Tests that run many times, of a pytest of its own."""

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
def test_each_time_of_many_is_run(more: tuple[str, ...]) -> None:
    """In processes of xdist each test ran once, and was said to have run so often."""
    name = f"{ONE}::test_in_a_list_of_sizes_a_comma_separates"
    found = ran("tests.flakes", "--times", "3", "--busy", "0", *more, name)
    assert "failed 0 times; each test ran 3 times" in found
    assert "3 passed" in found
