"""What a run of another client's own tests must say, beside how many passed."""

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


def test_a_report_tells_how_every_test_ended(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    assert read_outcomes(report) == {
        "A works": "passed",
        "A breaks": "failed",
        "A has no server": "failed",
        "A waits": "skipped",
    }


def test_what_fails_or_is_skipped_without_a_reason_is_told() -> None:
    outcomes = {"a": "passed", "b": "failed", "c": "skipped", "d": "failed"}
    assert complaints(outcomes, {"d": "not offered"}, 1) == ["failed: b", "skipped: c"]


def test_a_reason_that_is_no_longer_one_is_told() -> None:
    assert complaints({"a": "passed"}, {"a": "not offered", "b": "gone"}, 1) == [
        "passes, and is left out: a",
        "does not exist, and is left out: b",
    ]


def test_fewer_tests_than_before_are_told() -> None:
    assert complaints({"a": "passed"}, {}, 2) == ["only 1 tests passed, of 2"]
