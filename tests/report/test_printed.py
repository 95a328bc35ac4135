"""The statements of the paper of 1997, compared with its own tables by independent arithmetic."""

import html
import re

import pytest

from ils_bench.paper.printed import PAPER
from ils_bench.paper.report import REPORT as ILS_REPORT
from ps_bench.paper.printed import PAPER as SITES
from ps_bench.paper.report import REPORT as PS_REPORT
from sitebench.report.printed import LAB_1997, Statement
from sitebench.tables.html import to_html

SMALL, LARGE = "ProLiant 2500", "ProLiant 7000"


def of(begins: str) -> Statement:
    (found,) = [
        each for each in (*PAPER.statements, *SITES.statements) if each.text.startswith(begins)
    ]
    return found


def byte(cell: str) -> float:
    number, unit = cell.split()
    return float(number) * {"KB": 1e3, "MB": 1e6}[unit]


def busy(rows: dict[str, list[str]], column: int, networks: int) -> float:
    """Return the load of this many networks of 100 Mbit/s, in %."""
    moved = sum(byte(rows[f"Bytes {way}/sec"][column]) for way in ("sent", "received"))
    return 8 * moved / (networks * 1e8) * 100


def cpu(rows: dict[str, list[str]]) -> list[list[float]]:
    return [
        [float(each) for each in re.findall(r"[\d.]+", cell)] for cell in rows["CPU Utilization"]
    ]


@pytest.mark.parametrize(
    ("machine", "networks", "percent"), [(SMALL, 1, "10.4"), (LARGE, 2, "8.2")]
)
def test_statement_on_less_than_3_percent_network_traffic_is_refuted(
    machine: str, networks: int, percent: str
) -> None:
    said = of(f"On the {machine}, network traffic is less than 3 %")
    lookups = busy(PAPER.tables["lookup"][machine]["rows"], 0, networks)
    assert f"{lookups:.1f}" == percent
    assert said.holds is False
    assert f"{percent} %" in said.check


def test_statement_on_full_cpu_use_is_refuted_for_adds_on_the_larger_machine() -> None:
    assert cpu(PAPER.tables["add"][LARGE]["rows"])[3] == [76.1, 75.8]
    assert of("The ProLiant 7000's CPUs are used in full").holds is False
    least = min(min(cell) for t in PAPER.tables.values() for cell in cpu(t[SMALL]["rows"]))
    assert least == 97.5
    assert of("The ProLiant 2500's CPU is used in full").holds is True


def test_some_rates_of_the_papers_summary_are_missing_in_the_tables() -> None:
    adds = PAPER.tables["add"]
    assert max(adds[SMALL]["ops_per_s"]) < 850
    assert min(PAPER.workbook["machines"]["paper-2500"]["add"]) == 840
    assert of("A ProLiant 2500 does approximately").holds is False
    assert adds[LARGE]["ops_per_s"][3] == 941
    assert of("A ProLiant 7000 does approximately").holds is False


@pytest.mark.parametrize(
    ("begins", "row", "smallest", "largest", "a_day"),
    [
        ("A ProLiant 2500 serves sites", "Web pages requested/sec", "49.6", "32.1", 50 * 86_400),
        ("A ProLiant 7000 serves them", "Web pages requested/sec", "63.0", "47.1", 60 * 86_400),
        ("A ProLiant 7000 serves them", "ASP requests/sec", "68.6", "51.2", 68 * 86_400),
    ],
)
def test_statements_of_the_summary_for_1000_people_are_refuted(
    begins: str, row: str, smallest: str, largest: str, a_day: int
) -> None:
    said, machine = of(begins), begins[2:15]
    (rows,) = [rows for name, rows in SITES.tables.items() if machine in name]
    assert (rows[row][0], rows[row][-1]) == (smallest, largest)
    assert said.holds is False
    assert largest in said.check
    assert f"{a_day / 1e6:.2f}" in said.check


def test_statements_on_sites_are_compared_with_tables_13_and_14() -> None:
    small, large = SITES.tables.values()
    assert min(map(byte, small["Available memory"])) == 83e6
    assert of("Between 87 and 96 MB").holds is False
    assert min(map(byte, large["Available memory"])) > 200e6
    used = [cell[0] for cell in cpu(large)]
    assert used[1] > used[0]
    assert of("The ProLiant 7000's CPU is used less").holds is False
    assert all(len(cell) == 1 for cell in cpu(large))
    assert of("The ProLiant 7000 was tested with one processor").holds is True
    assert [f"{busy(small, 0, 1):.1f}", f"{busy(large, 0, 2):.1f}"] == ["12.1", "7.6"]


def test_number_of_ten_megabit_networks_agrees_with_the_papers_text() -> None:
    lookups = (PAPER.tables["lookup"][m]["rows"] for m in (SMALL, LARGE))
    assert [round(busy(rows, 0, 1) / 10, 2) for rows in lookups] == [1.04, 1.65]


def test_reports_have_the_papers_statements_and_its_tables_without_figures() -> None:
    for suite, numbers in ((ILS_REPORT, "1 2 3 17 18"), (PS_REPORT, "1 12 17 18")):
        (group,) = suite.printed_1997
        titles = [table.title for table in group.tables]
        assert [re.findall(r"Table (\d+)", title)[0] for title in titles[:-1]] == numbers.split()
        page = html.unescape(to_html(group.tables[-1]))
        assert "does not hold" in page
    assert "one processor for PS testing" in LAB_1997[0].rows[4][2]
    assert "10.4 %" in ILS_REPORT.bottlenecks_1997[0].notes[0]
    assert "83 MB" in PS_REPORT.bottlenecks_1997[0].notes[0]
