"""A report on web workloads, from a run file of the run store."""

import csv
import html
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from sitebench.report import build
from sitebench.report.charts import rows
from sitebench.report.model import Report, load
from sitebench.report.page import Section
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.runs.store import RunStore
from sitebench.tables.markdown import to_markdown
from sitebench.verdict.verdict import Bound, Verdict
from tests.support.cli import in_process
from tests.support.runs import keep
from tests.web_bench.made import SECONDS, a_result, a_sweep, a_tally, used_up
from web_bench.paper.beside import paper_tables
from web_bench.paper.printed import PAPERS
from web_bench.workload import find

RATES = {1: 2_000.0, 4: 7_000.0, 48: 9_000.0}


def write(path: Path, results: list[PointResult]) -> Path:
    with RunStore(path) as store:
        store.set_manifest({"command": ["sitebench", "web", "sweep"], "seed": 1997})
        for result in results:
            requests = round(result.ops_per_s * SECONDS)
            keep(store, result, a_tally(find(result.spec.operation), requests, 10**6))
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    def swept(operation: str, divisor: int = 1) -> list[PointResult]:
        return a_sweep(operation, {clients: rate / divisor for clients, rate in RATES.items()})

    results = [
        *used_up(swept("webbench1-static")),
        *used_up(swept("webbench1-light", 5)),
        *used_up(swept("webbench1-heavy", 30)),
        *swept("spice-static"),
        *swept("spice-cgi", 8),
        *swept("ecommerce-cgi", 3),
        *a_sweep("silicon-surf", {48: 5_000.0}),
        *swept("webstone2-standard"),
    ]
    return load([write(tmp_path_factory.mktemp("web") / "web.sitebench", results)])


@pytest.fixture(scope="module")
def sections(report: Report) -> dict[str, Section]:
    return {section.id: section for section in build.sections(report)}


def words(section: Section) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section.body)).split())


def test_rates_and_latencies_are_drawn_over_clients(sections: dict[str, Section]) -> None:
    charts = {chart.id: chart for chart in sections["rates"].charts}
    points = rows(charts["rate-web-webbench1-static"].choices[""]["points"])
    assert {point["series"] for point in points} == {"today: nginx"}
    assert [point["size"] for point in points] == [1, 4, 48]
    assert [point["rate"] for point in points] == [2_000, 7_000, 9_000]
    latency = rows(charts["rate-web-webbench1-static-latency"].choices[""]["points"])
    assert latency[0]["rate"] == pytest.approx(500, rel=1e-3)


def test_machines_of_the_papers_are_drawn_beside_todays(sections: dict[str, Section]) -> None:
    charts = {chart.id: chart for chart in sections["papers"].charts}
    webbench = rows(charts["printed-web-webbench1-static"].choices[""]["points"])
    assert webbench[0]["series"] == "today: nginx"
    assert "ProLiant 5000 1P, 1997" in {point["series"] for point in webbench}
    webstone = rows(charts["printed-web-webstone2-standard"].choices[""]["points"])
    assert (webstone[-1]["size"], webstone[-1]["rate"]) == (500, 602)


def test_points_of_workloads_are_named_by_their_clients(
    report: Report, sections: dict[str, Section]
) -> None:
    said = words(sections["bottlenecks"])
    assert "WebBench 1.0, static HTML, 4 clients" in said
    assert " 0 clients" not in " ".join(map(words, sections.values()))
    titles = sections["spectrum"].charts[0].titles.values()
    assert "WebBench 1.0, static HTML, by users" in titles
    assert len(titles) == 8
    assert sections["curve"].charts[0].titles["c0"] == "WebBench 1.0, static HTML"


def test_every_printed_table_is_in_the_report(sections: dict[str, Section]) -> None:
    said = words(sections["papers"])
    for paper in PAPERS.values():
        for table in paper.tables:
            assert " ".join(table.citation.split()) in said
            for note in table.notes:
                assert " ".join(note.split()) in said
        for statement in paper.statements:
            assert statement.check in said


@pytest.mark.parametrize(
    "line",
    [
        # Table 5, Tables 1 and 3, Table 5 of 2000 (own peaks), the peaks of WebStone.
        "Today, requests/s: nginx, 2 processors 9,000 @ 48 1,800 @ 48 300 @ 48",
        "Static requests/second 2,759 2,282 1.21 9,000 @ 48, 2 processors",
        "SPICE C CGI requests/second 493 344 1.43 1,125 @ 48, 2 processors",
        "Uniprocessor 100% CGI 14.5% 18.5% 12.5%, 2 processors 12.5%, 2 processors",
        "Uniprocessor SPICE e-commerce CGI requests/second 329 3,000 @ 48, 2 processors",
        "HTML 602 @ 500 clients 91.18 @ 500 clients 9,000 @ 48, 2 processors",
        # The line has half of the ten classes of a measured mix.
        "40% 2K, 3K 40.00%",
        "Conn/Sec. @ 50K in theory, K as bits 2048 204.8 31.62 2.56",
        "Conn/Sec. @ 50K in practice, K as bits 1536 153.6 23.72 1.92",
        "Conn/Sec. @ 250K in practice, K as bits 385 38.5 5.945 0.4813",
        "Conn/Sec. @ 50K in theory, K as bytes 244.1 24.41 3.77 0.3125",
    ],
)
def test_papers_section_has_todays_and_printed_figures(
    line: str, sections: dict[str, Section]
) -> None:
    assert line in words(sections["papers"])


def of_markdown(text: str) -> str:
    """Return the words of Markdown tables."""
    return " ".join(text.replace("\\", "").replace("|", " ").split())


def papers_of(*results: PointResult) -> str:
    """Return the papers' tables beside results, as words."""
    found = paper_tables(series(results))
    text = " ".join(to_markdown(table) for each in found for table in each.tables)
    return html.unescape(of_markdown(text))


def test_todays_figure_is_in_the_table_of_the_same_number_of_processors() -> None:
    """The same figure was in the table of four processors and in that of one."""
    rates = {"processors=1": 2_000.0, "": 5_000.0}
    results = [
        a_result("spice-static", 8, rate, settings={"target_limits": limits})
        for limits, rate in rates.items()
    ]
    said = papers_of(*results)
    four, one = said.split("### Table 2: Static Performance (1-CPU Server)")
    assert "Static requests/second 2,759 2,282 1.21 5,000 @ 8, 2 processors" in four
    assert "Static requests/second 1,153 714 1.61 2,000 @ 8 " in one


def test_lower_bound_is_marked_in_every_table_of_the_papers() -> None:
    bound = Verdict(Bound.GENERATOR, False, "a load thread used 99% of its core")
    names = ("spice-static", "webbench1-static", "webstone2-standard")
    said = papers_of(*(replace(a_result(name, 8, 1_000.0), verdict=bound) for name in names))
    assert "2,759 2,282 1.21 >= 1,000 @ 8, 2 processors" in said
    assert "Static Latency (ms) 8.3 15.4 1.86 <= 8 @ 8, 2 processors" in said
    assert "Today: nginx, 8 clients, 2 processors 8 >= 95% >= 68.4 Mbit/s" in said
    assert "Today, requests/s: nginx, 2 processors >= 1,000 @ 8" in said
    assert "HTML 602 @ 500 clients 91.18 @ 500 clients >= 1,000 @ 8" in said


def two_runs(folder: Path, **of_the_second: str) -> str:
    """Return the report on two runs as words: the static test, and the other workload."""
    settings = {"keepalive": "false", **of_the_second}
    shop = a_sweep("ecommerce-cgi", {48: 3_000.0}, settings=settings)
    files = [write(folder / "files", a_sweep("spice-static", RATES)), write(folder / "shop", shop)]
    return of_markdown(build.markdown(load(files)))


def test_runs_that_are_parts_of_a_sweep_are_joined(tmp_path: Path) -> None:
    """Tables 9 and 11 of 2000 were empty unless one command had measured all workloads."""
    said = two_runs(tmp_path)
    assert "ecommerce-cgi own peaks 48 48 33.3%" in said
    assert "### Peaks, with their clients" in said
    assert "Table 9: iWS E-Commerce SPICE Efficiency" in said


def test_runs_that_differ_in_more_than_their_load_are_not_joined(tmp_path: Path) -> None:
    said = two_runs(tmp_path, keepalive="true")
    assert "ecommerce-cgi own peaks" not in said
    # Joined, they would be the two sides of an efficiency, which requires equal settings.
    assert "No SPICE efficiency of ecommerce-cgi" not in said


def test_spice_workloads_fill_the_tables_of_2000(tmp_path: Path) -> None:
    # On a busy machine the start of a CGI program may take longer than a window.
    for measure in ("100ms", "1s", "10s"):
        brief, out = ("--clients", "1", "--warmup", "0s", "--measure", measure), tmp_path / measure
        ran = in_process("web", "spice", *brief, "--out", out, "--quiet")
        if "-cgi, 1 client: no operation finished within the window" not in ran.err:
            break
    assert ran.code == 0, ran.err
    measured = {each.spec.operation for each in load([out]).runs[0].results}
    assert {"spice-static", "spice-cgi", "ecommerce-inprocess", "ecommerce-cgi"} <= measured


def test_tables_of_the_terminal_are_in_the_report(sections: dict[str, Section]) -> None:
    said = words(sections["papers"])
    assert "webbench1-heavy webbench1-static, webbench1-light" in said
    assert "spice-cgi own peaks 48 48 12.5% 12.5%" in said
    assert "spice-static 9,000 @ 48" in said


def test_spice_results_are_drawn_beside_those_of_2000(sections: dict[str, Section]) -> None:
    (chart,) = (each for each in sections["papers"].charts if each.id.startswith("spice"))
    kept = rows(chart.choices[""]["kept"])
    assert list(dict.fromkeys(row["series"] for row in kept)) == [
        "today, own peaks",
        "today, highest load",
        "iWS, 4 CPUs, 2000",
    ]
    assert list(dict.fromkeys(row["workload"] for row in kept)) == ["spice-cgi", "ecommerce-cgi"]
    assert [row["kept"] for row in kept[:3]] == [0.125, 0.125, 0.179]


def test_points_with_different_numbers_of_clients_are_not_confused(tmp_path: Path) -> None:
    """Every point has 0 entries: a comparison by size alone would confuse points."""
    a, b = (
        write(tmp_path / str(rate), a_sweep("spice-cgi", {1: 400.0, 8: rate}))
        for rate in (800.0, 1_600.0)
    )
    ran = in_process("compare", str(a), str(b), "--json").check(0)
    points = json.loads(ran.out)["points"]
    assert [each["point"] for each in points] == ["spice-cgi, 1 client", "spice-cgi, 8 clients"]
    assert [each["measures"]["ops_per_s"]["b"] for each in points] == [[400.0], [1_600.0]]


def test_exported_points_are_distinguished_by_their_clients(tmp_path: Path) -> None:
    run = write(tmp_path / "a.sitebench", a_sweep("spice-cgi", {1: 400.0, 8: 800.0}))
    ran = in_process("export", str(run), "--format", "csv").check(0)
    rows = list(csv.DictReader(ran.out.splitlines()))
    assert [(row["point"], row["users"]) for row in rows] == [("1", "1"), ("2", "8")]
