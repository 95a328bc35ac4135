"""Tables 13 and 14, and their counts."""

import pytest
from msgspec.structs import replace

from ps_bench.operations import built_in
from ps_bench.paper.figures import figures, mix
from ps_bench.paper.printed import PAPER as PRINTED
from ps_bench.paper.report import REPORT, measurements
from ps_bench.suite import SUITE
from sitebench.counts.tally import Tally
from sitebench.http.mix import off_by
from sitebench.measure.summarise import summarise
from sitebench.report.paper import terminal_tables
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.scenario.script import from_text
from sitebench.tables.tables import footnotes
from tests.support.drains import Drain, Step, histogram
from tests.support.points import a_spec, a_use
from tests.support.shown import shown

PAPER = built_in("scenario")


def a_tally(hundreds: int = 10, extra_pages: int = 0) -> Tally:
    """Return two seconds of the paper's scenario."""
    n = hundreds
    connect = histogram(*[50_000] * 10)
    steps = (
        Step("scenario", "main: connect", 10, service=connect),
        Step("create", "create", 5 * n, {"status:500": n}, 100 * n, 200 * n),
        Step("page", "page", 91 * n + extra_pages, {}, 9_000 * n, 800_000 * n),
        Step("page-and-update", "update", 4 * n),
        Step("page-and-update", "updated-page", 4 * n),
        Step("page", "image", 364 * n),
        Step("page-and-update", "image", 16 * n),
        Step("page", "sequence", 91 * n),
    )
    tally = Tally.starting(Drain(0, 0))
    tally.add(Drain(0, 2_000_000_000, steps))
    return tally


def a_result(entries: int = 1_000, **settings: str) -> PointResult:
    settings = {"keepalive": "false", **settings}
    spec = replace(a_spec("scenario", entries), suite="ps", settings=settings)
    tally = a_tally()
    return summarise(
        spec,
        tally,
        PAPER.counted_rows,
        a_use(),
        target_cores=1,
        native=True,
        figures=figures(tally, [PAPER]),
    )


def test_pages_and_requests_are_counted_as_in_the_paper() -> None:
    found = figures(a_tally(), [PAPER])
    # Operations 2 and 3 are pages; updates and creates are ASP requests too, unless they failed.
    assert found["web_pages_per_s"] == found["upd_reads_per_s"] == 950 / 2
    assert found["asp_requests_per_s"] == (950 + 40 + 40) / 2
    assert found["connect_s"] == pytest.approx(50e-6, rel=0.01)


def test_mix_of_a_site_includes_failed_operations() -> None:
    exact = mix(a_tally(), PAPER)
    assert [each["percent"] for each in exact.values()] == [5, 91, 4]
    assert off_by(exact) == 0
    assert off_by(mix(a_tally(extra_pages=100), PAPER)) == pytest.approx(9.0)


def test_empty_window_causes_no_division_by_zero() -> None:
    found = figures(Tally(), [PAPER])
    assert found["web_pages_per_s"] == 0
    assert found["connect_s"] is None
    assert off_by(found["mix"]["scenario"]) == 0


def test_rows_match_those_of_the_paper_in_order() -> None:
    rows = measurements(series([a_result()]))
    assert tuple(rows) == tuple(PRINTED.tables["Table 14: ProLiant 7000"])
    assert rows["Web pages requested/sec"] == ["475"]
    assert rows["ASP requests/sec"] == ["515"]
    assert rows["Average Connect Time"] == ["50 us"]
    assert rows["CPU Utilization"] == ["95.0%"]


def test_user_defined_scenario_is_not_compared_with_the_paper() -> None:
    """Its operations are no ASP requests, and its site has no user-property database."""
    own = a_result(scenario="shop.toml")
    assert measurements(series([own]))["Operations/sec"] == ["495"]
    said = shown(terminal_tables(SUITE, [own]))
    for words in ("ASP", "UPD", "1997", "every hundred"):
        assert words not in said
    assert [each.name for each in REPORT.figures([own.spec])] == ["scenario"]
    papers = REPORT.figures([a_result().spec])
    assert [each.name for each in papers] == ["web-pages", "asp-requests", "upd-reads"]


def test_figures_of_1997_appear_at_their_sizes() -> None:
    results = [a_result(size) for size in (1_000, 1_000_000, 5_000)]
    said = shown(terminal_tables(SUITE, results))
    for words in ("ProLiant 2500, Table 13", "49.6", "32.1", "47.1", "213 MB", "5.00% of 5%"):
        assert words in said


def test_failures_have_a_footnote() -> None:
    (note,) = footnotes([a_result()])
    assert "scenario at 1k" in note
    assert "10 operations failed" in note


def test_figures_survive_serialisation() -> None:
    result = a_result()
    assert PointResult.read(result.to_json()) == result


def test_connections_of_all_steps_are_counted() -> None:
    """For a visit with its own connections, they are part of the operation."""
    text = 'connection.main.per = "iteration"\n[[operation]]\nname = "home"\nget = "/"\n'
    tally = Tally.starting(Drain(0, 0))
    steps = (Step("home", "get", 8), Step("home", "main: connect", 8, service=histogram(*[9] * 8)))
    tally.add(Drain(0, 2_000_000_000, steps))
    assert figures(tally, [from_text("visit", text)])["connects_per_s"] == 4
