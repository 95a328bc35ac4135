"""The report of a run of another client's own tests, and their number."""

from pathlib import Path

from tests.conformance.client_suites.outcomes import complaints, read_outcomes

REPORT = """\
<testsuites><testsuite>
<testcase classname="A" name="works"/>
<testcase classname="A" name="breaks"><failure message="no"/></testcase>
<testcase classname="A" name="has no server"><error message="no"/></testcase>
<testcase classname="A" name="waits"><skipped/></testcase>
</testsuite></testsuites>
"""


def test_report_has_the_outcome_of_every_test(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    assert read_outcomes(report) == {
        "A works": "passed",
        "A breaks": "failed",
        "A has no server": "failed",
        "A waits": "skipped",
    }


def test_unexplained_failures_and_skips_are_reported() -> None:
    outcomes = {"a": "passed", "b": "failed", "c": "skipped", "d": "failed"}
    assert complaints(outcomes, {"d": "not offered"}, 1) == ["failed: b", "skipped: c"]


def test_outdated_exclusions_are_reported() -> None:
    assert complaints({"a": "passed"}, {"a": "not offered", "b": "gone"}, 1) == [
        "passes, and is left out: a",
        "does not exist, and is left out: b",
    ]


def test_fewer_passed_tests_than_before_are_reported() -> None:
    assert complaints({"a": "passed"}, {}, 2) == ["only 1 tests passed, of 2"]
