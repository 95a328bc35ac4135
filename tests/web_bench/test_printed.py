import pytest

from web_bench.paper.printed import PAPERS
from web_bench.workload import built_in

TABLES = [(paper.key, table) for paper in PAPERS.values() for table in paper.tables]
PEAKS = PAPERS["webbench1"].table("Peak Throughput")


def test_every_row_of_a_printed_table_has_a_cell_for_every_column() -> None:
    assert [
        (table.citation, row)
        for _, table in TABLES
        for row in table.rows
        if len(row) != len(table.columns)
    ] == []


def test_every_printed_table_is_stored_even_with_a_repeated_number() -> None:
    numbers = {key: [t.number for of, t in TABLES if of == key and t.number] for key in PAPERS}
    assert numbers == {
        "webbench1": [*(f"Table {n}" for n in range(1, 6)), "Appendix A", "Figure 2"],
        "webbench3": [f"Table {n}" for n in (*range(1, 12), 9, 10, 11, 12, 11)],
        "webstone2": [],
        "webcat": [],
    }
    assert len(TABLES) == 7 + 17 + 4 + 7
    # A citation identifies one table.
    assert len({(key, table.citation) for key, table in TABLES}) == len(TABLES)
    assert PAPERS["webbench3"].table("Type C Client Configuration").citation == (
        "Table 11: Type C Client Configuration"
    )


def test_settings_printed_outside_numbered_tables_are_stored() -> None:
    webcat, spice = PAPERS["webcat"], PAPERS["webbench3"]
    servers = webcat.table("Compaq Server Configuration")
    assert servers.cell("RAM", "ProLiant 5000") == "32 MB, 64 MB, 128 MB, and 512 MB"
    assert webcat.table("Web Client Configuration").cell("RAM", "Clients") == "32 MB"
    tuned = spice.table("Software Configuration and Tuning")
    assert tuned.cell("/etc/system", "Setting") == (
        "rlim_fd_max=8192, rlim_fd_cur=8192, sq_max_size=0"
    )
    (recompiled,) = (each for each in spice.statements if "43 % by recompiling" in each.text)
    assert recompiled.holds is None


@pytest.mark.parametrize(
    ("paper", "table", "row", "column", "value"),
    [
        ("webbench1", "Peak Throughput", "ProLiant 5000 2P", "Static HTML", 1401),
        ("webbench3", "Static Performance (4-CPU Server)", "Static requests/second", "iWS", 2759),
        ("webstone2", "Peak Performance Data", "CGI", "Throughput, Mbits/s", 3.72),
        (
            "webcat",
            "Common networking technologies",
            "Conn/Sec. @ 250K in theory",
            "ISDN (BRI)",
            0.5,
        ),
        (
            *("webbench3", "Stronghold SPICE Efficiency", "Uniprocessor 100% Java Servlet"),
            *("Stronghold SPICE Latency Efficiency", 50.9),
        ),
    ],
)
def test_cell_is_a_number_without_its_unit(
    paper: str, table: str, row: str, column: str, value: float
) -> None:
    assert PAPERS[paper].table(table).value(row, column) == value


def test_a_cell_without_a_number_is_an_error() -> None:
    table = PAPERS["webbench3"].table("SPICE Performance for JSP and SHTML SPICE Programs (4 CPUs)")
    assert table.cell("SPICE JSP requests/second", "Stronghold") == "N/A"
    with pytest.raises(ValueError, match="no number in 'N/A'"):
        table.value("SPICE JSP requests/second", "Stronghold")


def size(text: str) -> int:
    """Parse a size as printed in the papers: 256 bytes, 512 Bytes, 2K, 1M, CLASS_256B."""
    text = text.removeprefix("CLASS").strip("_ ")
    number = int("".join(each for each in text if each.isdigit()))
    return number * {"K": 1024, "M": 1024**2}.get(text[-1], 1)


def drawn(name: str) -> list[tuple[tuple[int, ...], int]]:
    workload = built_in()[name]
    return [(each.files.sizes, each.weight) for each in workload.classes if each.files]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("silicon-surf", "Webstone File Distribution"),
        ("large-filemix", "Large Filemix File Distribution"),
        ("cgi-html", "CGI/HTML File Distribution"),
    ],
)
def test_webcats_tables_equal_the_workloads_of_the_same_name(name: str, title: str) -> None:
    *rows, total = PAPERS["webcat"].table(title).rows
    assert total[0] == "100.00%"
    assert sum(int(percent.rstrip("%")) for percent, _ in rows) == 100
    printed = [
        (tuple(size(each) for each in sizes.split(", ")), int(percent.rstrip("%")))
        for percent, sizes in rows
    ]
    if name == "cgi-html":
        # The last row is the program; the first is printed as 256K, and is 256 bytes.
        assert printed.pop() == ((10 * 1024,), 75)
        assert printed[0] == ((256 * 1024,), 2)
        printed[0] = ((256,), 2)
    assert drawn(name) == printed


def test_appendix_a_equals_the_static_workload_of_webbench() -> None:
    rows = PAPERS["webbench1"].table("Distribution of Sample Files").rows
    assert drawn("webbench1-static") == [((size(name),), int(n)) for name, n in rows]


def test_user_models_equal_the_three_workloads_of_webbench() -> None:
    models = PAPERS["webbench1"].table("Model of User Requirement")
    for row, name in zip(models.rows, ("static", "light", "heavy"), strict=True):
        workload = built_in()[f"webbench1-{name}"]
        program = sum(each.weight for each in workload.classes if each.dynamic)
        cgi = 100 * program / sum(each.weight for each in workload.classes)
        assert models.value(row[0], "CGI Requests") == cgi
        assert models.value(row[0], "Static HTML Requests") == 100 - cgi


def test_points_named_in_the_text_agree_with_the_table_of_peaks() -> None:
    points = PAPERS["webbench1"].points
    rates = {(p.workload, p.server, p.clients): p.requests_per_s for p in points}
    for workload, server, clients in (
        ("Static HTML", "ProLiant 5000 1P", 96),
        ("Static HTML", "ProLiant 800 1P", 120),
        ("Static HTML", "ProLiant 800 2P", 216),
        ("Light CGI", "ProLiant 5000 1P", 28),
        ("Light CGI", "ProLiant 5000 2P", 56),
    ):
        assert rates[workload, server, clients] == PEAKS.value(server, workload)


def test_false_statements_of_the_papers_are_marked() -> None:
    failed = [
        each.text for paper in PAPERS.values() for each in paper.statements if each.holds is False
    ]
    assert len(failed) == 6
    assert all(each.check for paper in PAPERS.values() for each in paper.statements)
