import pytest
from msgspec.structs import replace

from ils_bench.suite import SUITE
from sitebench.report.paper import terminal_tables
from sitebench.runs.point import PointResult
from sitebench.tables.table import Cell, Mark, Table
from sitebench.tables.tables import footnotes, latency_tables
from sitebench.tables.terminal import results_console
from tests.support.evidence import changed
from tests.support.points import a_result, a_spec
from tests.support.shown import shown


def paper(results: list[PointResult]) -> str:
    """Return the output of --paper-tables."""
    return shown(terminal_tables(SUITE, results), width=160)


def repeats(n: int) -> list[PointResult]:
    return [a_result(a_spec(repeat=i), 20_000 + 2_000 * i) for i in range(n)]


def line(text: str, words: str) -> str:
    """Return the one line of a text with these words, with single spaces."""
    lines = (" ".join(each.split()) for each in text.splitlines())
    (found,) = [each for each in lines if words in each]
    return found


def test_six_repeats_are_shown_as_a_median_with_its_interval() -> None:
    text = paper(repeats(6))
    assert line(text, "Search Ops/sec today").endswith("12,500")
    assert line(text, "Search Ops/sec, 95% interval").endswith("10,000..15,000")
    assert line(text, "Repeats").endswith("6")
    assert footnotes(repeats(6)) == [
        "Figures are medians over repeats, with exact 95% intervals of the median."
    ]


def test_too_few_repeats_have_minimum_maximum_and_a_note() -> None:
    text = paper(repeats(3))
    assert line(text, "Search Ops/sec today").endswith("11,000")
    assert line(text, "least and greatest").endswith("10,000..12,000")
    assert "95% interval" not in text
    (note,) = footnotes(repeats(3))
    assert "needs 6 repeats and there are 3" in note


def test_one_measurement_has_no_note_on_repeats() -> None:
    text = paper(repeats(1))
    assert "Repeats" not in text
    assert ".." not in text
    assert footnotes(repeats(1)) == []


def test_samples_of_all_repeats_are_counted() -> None:
    assert "66,000" in paper(repeats(3))


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((1_190.0, 1_340.0), "lookup 1k: p99 1.26 ms (1.19..1.34 ms)"),
        ((850.0, 1_340.0), "lookup 1k: p99 1.26 ms (850 us..1.34 ms)"),
        ((1_190.0, None), "lookup 1k: p99 1.26 ms (>= 1.19 ms)"),
    ],
)
def test_p99_is_printed_with_its_interval(bounds: tuple[float, float | None], said: str) -> None:
    result = a_result()
    latency = replace(result.clocks["latency"], p99=1_260.0, intervals={"p99": bounds})
    assert said in shown(latency_tables([changed(result, latency=latency)]))
    without = changed(result, latency=replace(latency, intervals={}))
    assert "(" not in shown(latency_tables([without])[:1])


def test_p99_without_interval_has_the_reason_and_the_required_window() -> None:
    result = a_result()
    latency = replace(result.clocks["latency"], p99=1_260.0, too_alike={"p99": 180.0})
    said = "lookup 1k: p99 1.26 ms (half seconds too alike to tell, a window of 3m would do)"
    assert said in shown(latency_tables([changed(result, latency=latency)]))


def test_table_wider_than_the_terminal_wraps_words_but_not_figures() -> None:
    cells = ("lookup", "said in many words", "1,234,567", Cell("12.6 ms", Mark.BOUND))
    table = Table("", ("Point", "What it is", "Rate", "Latency"), [cells], left=2)
    lines = [line.split() for line in shown([table], width=20).splitlines()]
    assert ["lookup", "said", "in", "1,234,567", "12.6", "ms", "*"] in lines
    assert ["many"] in lines
    assert lines[2][-2:] == ["Rate", "Latency"]


def test_width_of_piped_results_is_limited_only_by_the_variable_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert results_console().width > 10_000
    monkeypatch.setenv("COLUMNS", "77")
    assert results_console().width == 77
