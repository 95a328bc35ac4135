"""The tables of a sweep, as the terminal shows them."""

from msgspec.structs import replace

from sitebench.report.paper import terminal_tables
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Series, series
from tests.support.shown import shown
from tests.web_bench.made import a_result, a_sweep, used_up
from web_bench.paper.tables import client_latency, failures
from web_bench.points import POINTS
from web_bench.suite import SUITE


def paper(results: list[PointResult]) -> str:
    """Return the output of --paper-tables."""
    return shown(terminal_tables(SUITE, results), width=80)


def one(result: PointResult) -> Series:
    (point,) = series([result])
    return point


def words(text: str) -> str:
    return " ".join(text.split())


def line(text: str, begins: str) -> str:
    """Return the one line with this beginning, with single spaces."""
    (match,) = [each for each in map(words, text.splitlines()) if each.startswith(begins)]
    return match


def test_workload_has_a_row_per_number_of_clients() -> None:
    text = paper(a_sweep("webbench1-static", {12: 400, 48: 1_000, 96: 1_100}))
    assert "webbench1-static: by clients (nginx, a connection per request)" in text
    # No text is cut off on a terminal of 80 columns.
    assert "48 1,000 1,000 68.4 48.0 0 undecided" in words(text)
    assert "A request brought 8,548 bytes, head and body" in text
    assert "a body has 8,348 (+2.4%)" in words(text)
    assert "48 48 ms 24 ms - 12 ms 12 ms 48 ms" in words(text)
    assert line(text, "webbench1-static 1,100") == (
        "webbench1-static 1,100 @ 96 75.2 @ 96 12 to 48 96 1,100 @ 96"
    )


def test_unfairly_served_clients_are_marked_in_the_table() -> None:
    text = paper([a_result("webbench1-static", 2, 1_000, counts=(1_500, 500))])
    assert "2 500..1,500 (50%)" in words(text)


def test_spice_efficiency_is_shown_in_three_ways_with_a_static_test() -> None:
    static = a_sweep("spice-static", {4: 2_000, 8: 2_759, 60: 2_400})
    squeezed = words(paper([*static, *a_sweep("spice-cgi", {4: 400, 8: 450, 60: 493})]))
    assert "spice-cgi own peaks 8 60 17.9%" in squeezed
    assert "equal clients 4 4 20.0% 20.0%" in squeezed
    assert "highest load 60 60 20.5% 20.5%" in squeezed
    assert "SPICE efficiency" not in paper(a_sweep("spice-cgi", {4: 400}))
    assert "SPICE latency at the lightest load: spice-cgi, 4 clients: 10 ms" in squeezed


def test_cost_model_is_printed_beside_the_measurement() -> None:
    results = [
        *a_sweep("webbench1-static", {120: 1_401}),
        *a_sweep("webbench1-light", {56: 344}),
        *a_sweep("webbench1-heavy", {56: 48}),
    ]
    squeezed = words(paper(used_up(results)))
    assert "webbench1-heavy webbench1-static, 48.9/s 48/s +1.9% webbench1-light" in squeezed
    assert "a program 22.6 ms" in squeezed


def test_table_of_the_mix_has_exact_shares_per_class() -> None:
    squeezed = words(paper(a_sweep("webbench1-static", {12: 400, 48: 1_000})))
    assert "off by 0.0" in squeezed
    assert "2k 26% 26.000% 7,280 0" in squeezed


def test_latency_of_each_client_is_the_window_divided_by_its_requests() -> None:
    """As in the Client Data Report of WebBench 3.0: 20 seconds, and 500 to 1,500 requests."""
    plain = a_result("webbench1-static", 2, 100, counts=(1_500, 500))
    assert client_latency(one(plain)) == "13.3 ms..40 ms"
    for without in (
        a_result("webbench1-static", 2, 100, settings={"think": "4ms"}),
        # A file may have pauses between its steps.
        replace(plain, figures={**plain.figures, "pauses": True}),
        a_result("webbench1-static", 2, 100, rate=100.0),
    ):
        assert client_latency(one(without)) == "-"


def test_failures_are_printed_as_number_and_rate() -> None:
    assert failures(one(a_result("webbench1-static", 2, 100, lost=40))) == "40 (2/s)"
    assert failures(one(a_result("webbench1-static", 2, 100))) == "0"


def test_notes_on_processors_cite_both_papers_and_mark_false_statements() -> None:
    """WebCat's own workload was shown only with the figures of another paper."""
    said = POINTS.notes("processors")
    assert len(said) == 6
    assert any(each.startswith("WebCat, October 1996: On the ProLiant 1500") for each in said)
    (seventy,) = [each for each in said if "about 70 %" in each]
    assert seventy.endswith("(by its own figures that does not hold).")
    assert POINTS.notes("memory") == ()
