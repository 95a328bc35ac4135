"""The papers' bottleneck tables, and warnings, as the terminal shows them."""

from itertools import pairwise

import pytest
from msgspec import structs
from msgspec.structs import replace

from sitebench.runs.point import PointResult
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.tables import point_name
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.verdict import Verdict
from tests.support.points import a_result, a_spec
from tests.support.shown import shown

ROWS = ("CPU", "Network", "Memory", "Operating System", "Software", "Disk Subsystem", "Verdict")


def judged(
    grade: Grade, entries: int = 1_000, operation: str = "lookup", repeat: int = 0
) -> PointResult:
    """Return a point with this grade for its CPU and No for all other resources."""
    findings = tuple(
        Finding(name, grade if name == Resource.CPU else Grade.NO, f"evidence of {name}")
        for name in Resource
    )
    verdict = Verdict("target-cpu", True, f"because of {grade}", findings)
    return structs.replace(a_result(a_spec(operation, entries, repeat=repeat)), verdict=verdict)


def drawn(results: list[PointResult]) -> str:
    return shown(bottleneck_tables(results))


def row(text: str, name: str) -> list[str]:
    """Return the words of the one row with this name."""
    (found,) = [line for line in text.splitlines() if line.strip().startswith(name)]
    return found.replace(name, "", 1).split()


def test_bottlenecks_of_one_point_are_shown_as_in_the_paper_with_comments() -> None:
    text = drawn([judged(Grade.PRIMARY)])
    places = [text.index(f"\n {name}") for name in ROWS]
    assert all(one < other for one, other in pairwise(places))
    assert row(text, "CPU") == ["Primary", "evidence", "of", "cpu"]
    assert row(text, "Disk Subsystem") == ["No", "evidence", "of", "disk"]
    assert row(text, "Verdict") == ["target-cpu", "because", "of", "primary"]


def test_invalid_rate_is_described_as_not_that_of_the_target() -> None:
    point = judged(Grade.NO)
    spoilt = structs.replace(point, verdict=replace(point.verdict, bound="generator", valid=False))
    assert "generator * because of no" in " ".join(drawn([spoilt]).split())


def test_not_enough_information_is_printed_in_full_for_a_single_point() -> None:
    assert "Not enough information" in drawn([judged(Grade.UNKNOWN)])


def test_each_of_several_points_has_a_column_and_evidence_below_the_table() -> None:
    text = drawn([judged(Grade.POSSIBLE), judged(Grade.UNKNOWN, entries=10_000)])
    assert row(text, "Resource") == ["1k", "10k"]
    assert row(text, "CPU") == ["Possible", "?"]
    assert "1k: because of possible" in text
    assert "10k: because of unknown" in text
    assert "?: not enough information" in text


def test_each_operation_has_a_separate_bottleneck_table() -> None:
    text = drawn([judged(Grade.PRIMARY), judged(Grade.PRIMARY, operation="add")])
    assert "Bottlenecks: lookup (embedded)" in text
    assert "Bottlenecks: add (embedded)" in text


P, Q, N, U = Grade.PRIMARY, Grade.POSSIBLE, Grade.NO, Grade.UNKNOWN


@pytest.mark.parametrize(
    ("grades", "shows"),
    [
        ((P, N, N, N, N, N), ["Possible", "1", "of", "6", "repeats:", "evidence"]),
        ((P, N, P), ["Primary", "evidence"]),
        ((P, N), ["Possible", "1", "of", "2", "repeats:", "evidence"]),
        ((Q, N, N), ["Possible", "evidence"]),
        ((P, U, U), ["Possible", "1", "of", "3", "repeats:", "evidence"]),
        ((U, N), ["No", "evidence"]),
    ],
)
def test_grade_of_most_repeats_is_the_primary_grade(
    grades: tuple[Grade, ...], shows: list[str]
) -> None:
    text = drawn([judged(grade, repeat=n) for n, grade in enumerate(grades)])
    assert row(text, "CPU")[: len(shows)] == shows


def test_points_of_one_size_are_named_by_their_load() -> None:
    one = judged(Grade.NO)
    other = structs.replace(one, spec=replace(one.spec, users=2_000))
    assert "1k, 64 users 1k, 2,000 users" in " ".join(drawn([one, other]).split())


def test_points_of_older_versions_have_no_bottleneck_table() -> None:
    old = structs.replace(a_result(), verdict=Verdict("target-cpu", True, "said"))
    assert bottleneck_tables([old]) == []


def test_points_without_people_are_named_by_their_clients() -> None:
    one = judged(Grade.NO, entries=0)
    other = structs.replace(one, spec=replace(one.spec, users=2))
    assert row(drawn([one, other]), "Resource") == ["2", "64"]
    assert "Bottlenecks: lookup, 64 clients (embedded)" in drawn([one])
    assert point_name(one.spec) == "lookup, 64 clients"


def test_points_beyond_the_terminal_width_have_a_row_each() -> None:
    points = [judged(Grade.PRIMARY, entries=n * 1_000) for n in range(1, 9)]
    text = drawn(points)
    assert row(text, "Point")[:2] == ["CPU", "Network"]
    assert row(text, "8k ")[:2] == ["Primary", "No"]
