import pytest
from rich.console import Console

from ils_bench.paper.printed import TABLES_1997
from ils_bench.paper.report import REPORT
from ils_bench.paper.tables import rate_1997, summary, tables
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.tables.tables import footnotes
from tests.support.points import a_result, a_spec


def shown(*renderables: object) -> str:
    console = Console(width=140, record=True, force_terminal=False)
    for each in renderables:
        console.print(each)
    return console.export_text()


def results() -> list[PointResult]:
    return [
        a_result(a_spec(operation, size))
        for size in (1_000, 20_000)
        for operation in ("connect", "add", "lookup")
    ]


def test_every_operation_has_the_papers_five_rows() -> None:
    text = shown(*tables(results()))
    for row in ("CPU Utilization", "Bytes sent/sec", "Bytes received/sec", "Available memory"):
        assert text.count(row) == 3
    for row in ("Connect Ops/sec", "Add Ops/sec", "Search Ops/sec"):
        assert row in text


def test_sent_and_received_are_the_servers() -> None:
    lines = shown(*tables(results())).splitlines()
    sent = next(line for line in lines if "Bytes sent/sec" in line)
    received = next(line for line in lines if "Bytes received/sec" in line)
    assert "12.8 MB" in sent
    assert "1.04 MB" in received


def test_figures_of_1997_stand_beside_their_size_only() -> None:
    lines = shown(*tables(results())).splitlines()
    (line,) = [line for line in lines if "Search Ops/sec, ProLiant 7000, 1997" in line]
    assert line.split()[-2:] == ["1,532", "-"]


def test_the_papers_rates_are_those_printed() -> None:
    # Table 5 and the workbook of Appendix A disagree about Adds; this is Table 5.
    assert TABLES_1997["add"]["ProLiant 2500"]["ops_per_s"] == [815, 718, 844, 741]
    assert rate_1997("connect", "ProLiant 7000", 10_000) == "783"
    assert rate_1997("connect", "ProLiant 7000", 2_000) == ""
    assert rate_1997("retrieve", "ProLiant 7000", 1_000) == ""


def test_the_summary_has_one_line_per_operation() -> None:
    text = shown(summary(results()))
    assert [line.split()[0] for line in text.splitlines() if "10,000" in line] == [
        *("connect", "add", "lookup")
    ]


def test_a_number_that_is_not_the_targets_is_marked_and_explained() -> None:
    nothing = a_result(a_spec("lookup", 1_000), count=0)
    assert "*" in shown(summary([nothing]))
    assert footnotes([nothing])[0].startswith("* lookup at 1k, 64 clients: failed")


def test_a_point_without_people_is_of_any_size() -> None:
    text = shown(*tables([a_result(a_spec("connect", 0))]))
    assert "any size" in text
    assert "0 Users" not in text
    assert "0 entries" not in text


def test_a_table_says_what_stood_in_the_place_of_the_papers_machines() -> None:
    one = a_spec("lookup", settings={"target_limits": "processors=1"})
    text = shown(*tables([a_result(a_spec("connect")), a_result(one)]))
    assert "Connect Operation: measurements (embedded, 64 clients, 2 processors)" in text
    assert "Direct Lookup Operation: measurements (embedded, 64 clients, 1 processor)" in text


@pytest.mark.parametrize(("profile", "said"), [("paper", 1), ("ils", 1), ("small", 0)])
def test_adds_that_are_larger_than_those_of_1997_are_said_to_be(profile: str, said: int) -> None:
    """10.8 MB/s stood above the 103 KB/s of Table 5, without a word."""
    added = a_result(a_spec("add", settings={"profile": profile}))
    words = "In 1997 an add had 126 bytes, as with --profile small"
    assert shown(*tables([added])).count(words) == said
    assert REPORT.paper_table is not None
    table = REPORT.paper_table(series([added]))
    assert "\n".join(table.notes).count(words) == said
    looked_up = a_result(a_spec("lookup", settings={"profile": profile}))
    assert words not in shown(*tables([looked_up]))
