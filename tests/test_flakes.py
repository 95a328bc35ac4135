"""Repeated tests in a separate pytest run."""

from pathlib import Path

import pytest

from tests.support.cli import python_module

ROOT = Path(__file__).parent.parent
ONE = "tests/test_units.py"


@pytest.mark.parametrize("more", [(), ("-n2",)])
def test_all_repetitions_of_a_test_are_run(more: tuple[str, ...]) -> None:
    """With xdist each test ran once, but the summary claimed all repetitions."""
    name = f"{ONE}::test_sizes_in_a_list_are_separated_by_commas"
    argv = ("--times", "3", "--busy", "0", *more, name)
    output = python_module("tests.flakes", *argv, cwd=ROOT).check(0).out
    assert "failed 0 times; each test ran 3 times" in output
    assert "3 passed" in output
