import pytest

from ils_bench.paper.printed import PAPER
from ils_bench.paper.report import REPORT
from ils_bench.suite import SUITE
from sitebench.report.paper import terminal_tables
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.tables.tables import footnotes
from tests.support.points import a_result, a_spec
from tests.support.shown import shown


def paper(results: list[PointResult]) -> str:
    """Return the output of --paper-tables."""
    return shown(terminal_tables(SUITE, results))


def results() -> list[PointResult]:
    return [
        a_result(a_spec(operation, size))
        for size in (1_000, 20_000)
        for operation in ("connect", "add", "lookup")
    ]


def test_every_operation_has_the_five_rows_of_the_paper() -> None:
    text = paper(results())
    for row in ("CPU Utilization", "Bytes sent/sec", "Bytes received/sec", "Available memory"):
        assert text.count(row) == 3
    for row in ("Connect Ops/sec", "Add Ops/sec", "Search Ops/sec"):
        assert row in text


def test_sent_and_received_bytes_are_named_from_the_servers_side() -> None:
    lines = paper(results()).splitlines()
    sent = next(line for line in lines if "Bytes sent/sec" in line)
    received = next(line for line in lines if "Bytes received/sec" in line)
    assert "12.8 MB" in sent
    assert "1.04 MB" in received


def test_figures_of_1997_appear_only_at_their_size() -> None:
    lines = paper(results()).splitlines()
    lines = lines[lines.index("Direct Lookup Operation") :]
    (row,) = [line for line in lines if "ProLiant 7000, Table 9" in line and "1,532" in line]
    assert row.split()[-2:] == ["1,532", "-"]
    assert "50k users" not in "".join(lines)


def test_rates_of_the_paper_match_the_printed_table() -> None:
    # Table 5 and the workbook of Appendix A disagree about Adds; these are Table 5's.
    assert PAPER.tables["add"]["ProLiant 2500"]["ops_per_s"] == [815, 718, 844, 741]


def test_invalid_rate_is_marked_with_a_footnote() -> None:
    nothing = a_result(a_spec("lookup", 1_000), count=0)
    assert "0 (not usable)" in paper([nothing])
    assert footnotes([nothing])[0].startswith("* lookup at 1k, 64 clients: failed")


def test_each_hash_measured_at_one_size_has_a_column() -> None:
    """Of two hashes at one size, only the last one was in the page's table."""
    results = [
        a_result(a_spec("login", settings={"hash": name}), count)
        for name, count in (("ssha", 20_000), ("argon2", 2_000))
    ]
    assert REPORT.paper_table is not None
    table = REPORT.paper_table(series(results))
    assert table.columns[2:] == ("1k users, ssha", "1k users, argon2")
    (rates,) = [row for row in table.rows if row[0] == "Ops/sec"]
    assert rates[2:] == ["10,000", "1,000"]


def test_names_of_operations_are_escaped() -> None:
    """An operation `find[all]` of a scenario file was printed as `find`."""
    assert "find[all] 1k" in paper([a_result(a_spec("find[all]"))])
    assert "find\\x1b" in paper([a_result(a_spec("find\x1b[1m"))])


def test_table_says_any_size_for_a_point_without_people() -> None:
    text = paper([a_result(a_spec("connect", 0))])
    assert "any size" in text
    assert "0 Users" not in text
    assert "0 entries" not in text


def test_table_names_the_present_target_clients_and_processors() -> None:
    one = a_spec("lookup", settings={"target_limits": "processors=1"})
    text = paper([a_result(a_spec("connect")), a_result(one)])
    for title, processors in (("Connect", "2 processors"), ("Direct Lookup", "1 processor")):
        table = text[text.index(f"{title} Operation") :]
        assert f"Today: embedded, 64 clients, {processors}." in table.split(" Operation")[1]


@pytest.mark.parametrize(("profile", "said"), [("paper", 1), ("ils", 1), ("small", 0)])
def test_adds_larger_than_in_1997_have_a_footnote(profile: str, said: int) -> None:
    """10.8 MB/s stood above the 103 KB/s of Table 5 without an explanation."""
    added = a_result(a_spec("add", settings={"profile": profile}))
    words = "In 1997 an add had 126 bytes, as with --profile small"
    assert paper([added]).count(words) == said
    assert REPORT.paper_table is not None
    table = REPORT.paper_table(series([added]))
    assert "\n".join(table.notes).count(words) == said
    looked_up = a_result(a_spec("lookup", settings={"profile": profile}))
    assert words not in paper([looked_up])
