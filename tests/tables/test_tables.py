"""What tables say of repeats."""

from rich.console import Console

from ils_bench.paper.tables import summary, tables
from sitebench.runs.point import PointResult
from sitebench.tables.tables import footnotes
from tests.support.points import a_result, a_spec


def shown(*renderables: object) -> str:
    console = Console(width=160, record=True, force_terminal=False)
    for each in renderables:
        console.print(each)
    return console.export_text()


def repeats(n: int) -> list[PointResult]:
    return [a_result(a_spec(repeat=i), 20_000 + 2_000 * i) for i in range(n)]


def line(text: str, words: str) -> str:
    """Return the one line of a text that has these words, its blanks squeezed."""
    lines = (" ".join(each.split()) for each in text.splitlines())
    (found,) = [each for each in lines if words in each]
    return found


def test_six_repeats_are_shown_as_a_median_with_its_interval() -> None:
    text = shown(*tables(repeats(6)))
    assert line(text, "Search Ops/sec 12").endswith("12,500")
    assert line(text, "Search Ops/sec, 95% interval").endswith("10,000..15,000")
    assert line(text, "Repeats").endswith("6")
    assert "12,500 (10,000..15,000)" in shown(summary(repeats(6)))
    assert footnotes(repeats(6)) == [
        "Figures are medians over repeats, with exact 95% intervals of the median."
    ]


def test_too_few_repeats_are_shown_with_their_least_and_greatest_and_said_to_be_few() -> None:
    text = shown(*tables(repeats(3)))
    assert line(text, "Search Ops/sec 11").endswith("11,000")
    assert line(text, "least and greatest").endswith("10,000..12,000")
    assert "95% interval" not in text
    (note,) = footnotes(repeats(3))
    assert "needs 6 repeats and there are 3" in note


def test_one_measurement_says_nothing_of_repeats() -> None:
    text = shown(*tables(repeats(1)))
    assert "Repeats" not in text
    assert ".." not in text
    assert footnotes(repeats(1)) == []


def test_samples_of_all_repeats_are_counted() -> None:
    assert "66,000" in shown(*tables(repeats(3)))
