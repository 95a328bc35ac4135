"""Every claim of docs/method.md names a test that exists, and most name a fault that it finds."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.mutation import ROWS

ROOT = Path(__file__).parents[1]
PAGE, _, _MUTATIONS = (ROOT / "docs/method.md").read_text().partition("\n## Mutations\n")
_ROW = re.compile(r"^\| .+ \| (.+) \|$", re.MULTILINE)
CLAIMS = _ROW.findall(PAGE)
FAULTS = _ROW.findall((ROOT / "docs/decisions/0110-numbers-that-hold.md").read_text())


def names_in(file: Path) -> list[str]:
    """Return the names of a file's tests, in either language."""
    text = file.read_text()
    if file.suffix == ".py":
        return re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)
    # An attribute, perhaps comments of the test, and its function.
    return re.findall(r"#\[test\]\s+(?:///?[^\n]*\s+)*fn (\w+)\(", text)


def test_every_rule_has_claims() -> None:
    sections = re.split(r"^### (\d+)\. .*$", PAGE, flags=re.MULTILINE)[1:]
    numbers, bodies = sections[::2], sections[1::2]
    assert numbers == [str(n) for n in range(1, 14)]
    for number, body in zip(numbers, bodies, strict=True):
        assert body.count("::") >= 1, f"rule {number} claims nothing"


def without_a_test(named: Iterable[str]) -> list[str]:
    """Return what rows name as their test and is none."""
    return [each for each in named if not _names_a_test(each)]


def _names_a_test(named: str) -> bool:
    found = re.fullmatch(r"`([\w/.-]+)::(\w+)`", named)
    if found is None:
        return False
    path, name = found.groups()
    file = ROOT / ("native/tester/" + path if path.startswith("load/") else path)
    return file.is_file() and name in names_in(file)


def test_every_claim_names_a_test_that_exists() -> None:
    assert without_a_test({*CLAIMS, *FAULTS} - {"test", "---"}) == []


def test_what_names_no_test_would_be_noticed() -> None:
    wrong = ["`tests/test_method_page.py::test_gone`", "`tests/gone.py::test_it`", "none", ""]
    assert without_a_test(["`tests/test_method_page.py::test_every_rule_has_claims`"]) == []
    assert without_a_test(wrong) == wrong


def test_mutations_are_of_rows_and_fit_their_files() -> None:
    tests = [row["test"] for row in ROWS]
    # Of a test with parameters a row names one, which finds its fault.
    tested = {test.partition("[")[0] for test in tests}
    assert {f"`{test}`" for test in tested} <= set(CLAIMS)
    assert len(tests) == len(set(tests))
    for row in ROWS:
        source = (ROOT / row["file"]).read_text()
        assert source.count(row["before"]) == 1, f"{row['file']} has changed: {row}"
    held = {claim for claim in CLAIMS if claim.startswith("`tests/")}
    assert len(tested) >= 0.7 * len(held), "name the mutations of new rows in tests/mutations.toml"


@pytest.mark.timeout(300)
def test_a_sample_of_the_mutations_is_found_by_the_tests_of_their_rows() -> None:
    argv = [sys.executable, "-m", "tests.mutation", "--rows", "3"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "right", "wrong", "test"),
    [
        (
            "sitebench/runs/repeats.py",
            *("_CONFIDENCE = 0.95", "_CONFIDENCE = 0.85"),
            "tests/runs/test_repeats.py",
        ),
        # pytest loads the packages of its own plugins in another way.
        (
            "ils_bench/growth.py",
            *("done = totals.count", "done = 1 + totals.count"),
            "tests/ils_bench/test_growth.py::"
            "test_people_added_after_the_window_are_not_there_when_it_begins",
        ),
    ],
)
def test_a_fault_is_told_from_none(file: str, right: str, wrong: str, test: str) -> None:
    # `survives` must tell a fault from none, or everything counts as killed.
    code = (
        "import sys; from tests.mutation import survives; file, right, wrong, test = sys.argv[1:]; "
        "text = open(file).read(); assert right in text; assert survives(file, text, [test]); "
        "assert not survives(file, text.replace(right, wrong), [test])"
    )
    argv = [sys.executable, "-c", code, file, right, wrong, test]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_there_would_be_noticed() -> None:
    assert "test_every_rule_has_claims" in names_in(Path(__file__))
    assert "test_nothing_of_the_kind" not in names_in(Path(__file__))
    recorder = names_in(ROOT / "native/tester/load/src/record/recorder.rs")
    assert "threads_together_hold_what_one_recorder_would" in recorder
    assert "record" not in recorder
