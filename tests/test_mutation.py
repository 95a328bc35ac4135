"""Rows of tests/mutations.toml name existing tests and texts; the tests kill the mutations."""

import sys

import pytest

from tests.docs.shown import ROOT, names_a_test
from tests.mutation import ROWS
from tests.support.cli import python_module
from tests.support.programs import run_program


def test_mutation_rows_name_existing_tests_and_source_text() -> None:
    tests = [row["test"] for row in ROWS]
    assert len(tests) == len(set(tests))
    # A row for a test with parameters names the one that kills its mutation.
    assert [test for test in tests if not names_a_test(test.partition("[")[0])] == []
    for row in ROWS:
        source = (ROOT / row["file"]).read_text()
        assert source.count(row["before"]) == 1, f"{row['file']} has changed: {row}"


def test_name_check_of_rows_rejects_unknown_tests() -> None:
    assert names_a_test("tests/test_mutation.py::test_name_check_of_rows_rejects_unknown_tests")
    assert names_a_test(
        "load/src/record/recorder.rs::the_recorders_of_threads_together_equal_one_recorder"
    )
    for name in ("test_gone", "names_a_test"):
        assert not names_a_test(f"tests/test_mutation.py::{name}")
    for name in ("tests/gone.py::test_it", "load/src/record/recorder.rs::record", "none", ""):
        assert not names_a_test(name)


@pytest.mark.timeout(300)
def test_sampled_mutations_are_killed_by_the_tests_of_their_rows() -> None:
    ran = python_module("tests.mutation", "--rows", "3", cwd=ROOT)
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize(
    ("file", "right", "wrong", "test"),
    [
        (
            *("sitebench/runs/repeats.py", "_CONFIDENCE = 0.95", "_CONFIDENCE = 0.85"),
            "tests/runs/test_repeats.py",
        ),
        # pytest loads the packages of its own plugins with another loader.
        (
            *("ils_bench/growth.py", "totals.count - totals.failed", "1 + totals.count"),
            "tests/ils_bench/test_growth.py::test_entry_count_at_the_end_of_the_window_excludes_later_adds",
        ),
    ],
)
def test_mutants_without_an_effect_survive(file: str, right: str, wrong: str, test: str) -> None:
    # `survives` must distinguish a fault from no fault, otherwise every mutant counts as killed.
    code = (
        "import sys; from tests.mutation import survives; file, right, wrong, test = sys.argv[1:]; "
        "text = open(file).read(); assert right in text; assert survives(file, text, [test]); "
        "assert not survives(file, text.replace(right, wrong), [test])"
    )
    done = run_program([sys.executable, "-c", code, file, right, wrong, test], cwd=ROOT)
    assert done.returncode == 0, done.stderr
