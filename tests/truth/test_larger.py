"""The larger cells: the figures of a test in each program of the product equal the log's."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.cli import sitebench
from tests.tls.certificates import Authority
from tests.truth import larger
from tests.truth.cells import NULL
from tests.truth.doors import BROKEN, RUN
from tests.truth.figures import SEQUENCE
from tests.truth.key_cells import MIXED
from tests.truth.larger import LARGER, DoorCell
from tests.truth.matrix import Measured, Server, problems, serving
from tests.truth.matrix import measure as measure_engine

pytestmark = [pytest.mark.truth, pytest.mark.timeout(600)]

AT_A_TIME = 4
"""More cells would keep two cores busy with their starts, and delay each other."""
CELL_OF = {str(each): each for each in LARGER}

Run = Callable[[DoorCell], Measured]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: Authority) -> Iterator[Server]:
    own = authority.sign("server")
    with serving(own.cert, own.key) as running:
        yield running


@pytest.fixture(scope="module")
def null(server: Server) -> Measured:
    return measure_engine(NULL, server)


@pytest.fixture(scope="module")
def measure(server: Server, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Run:
    def of(cell: DoorCell) -> Measured:
        folder = tmp_path_factory.mktemp("cell")
        return larger.measure(cell, server, folder, Path(authority.ca))[0]

    return of


@pytest.fixture(scope="module")
def nulls(null: Measured, measure: Run) -> Mapping[str, Measured]:
    """Return the added time of programs that are slower than the engine."""
    return defaultdict(lambda: null, portable=measure(DoorCell("portable", NULL)))


@pytest.fixture(scope="module")
def run(measure: Run, null: Measured, request: pytest.FixtureRequest) -> Iterator[Run]:
    """Measure the cells of this session concurrently; return a function to get one."""
    chosen = [
        CELL_OF[item.callspec.id]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "run" in item.fixturenames
    ]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        running = {str(cell): pool.submit(measure, cell) for cell in chosen}

        def result(cell: DoorCell) -> Measured:
            # A repeated measurement has the machine for itself.
            wait(running.values())
            return running[str(cell)].result()

        yield result
        for each in running.values():
            each.cancel()


@pytest.mark.parametrize("cell", LARGER, ids=str)
def test_figures_equal_those_of_the_servers_log(
    cell: DoorCell,
    run: Run,
    measure: Run,
    nulls: Mapping[str, Measured],
    capsys: pytest.CaptureFixture[str],
) -> None:
    null = nulls[cell.door]
    measured = run(cell)
    wrong = list(problems(measured, null))
    if wrong:
        # Concurrent cells used most of the machine.
        with capsys.disabled():
            print(f"\n{cell} again, alone: other programs had {measured.others:.0%}; {wrong}")
        wrong = list(problems(measure(cell), null))
    assert not wrong, "\n".join((str(cell), *wrong, *cell.cell.scenarios))


def read_mixed(
    door: str, server: Server, ca: Path, null: Measured, folder: Path, *more: str
) -> tuple[Measured, Any, Path]:
    """Run the mixed cell, and compare it with the log; return the path of its run file, too."""
    for n in range(2):
        (own := folder / str(n)).mkdir()
        found, shown = larger.measure(DoorCell(door, MIXED), server, own, ca, *more)
        wrong = list(problems(found, null))
        if not wrong:
            break
    assert not wrong
    return found, shown, own


@pytest.fixture(scope="module")
def mixed(
    server: Server, authority: Authority, null: Measured, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path]:
    """Return the JSON of one mixed run, compared with the log, and the run's folder."""
    folder = tmp_path_factory.mktemp("mixed")
    more = ("--junit", "j.xml")
    _, ran, own = read_mixed("two threads", server, Path(authority.ca), null, folder, *more)
    assert ran.code == BROKEN, ran.err
    (point,) = ran.objects
    return point, own


def test_csv_has_the_figures_of_json(mixed: tuple[dict[str, Any], Path]) -> None:
    point, folder = mixed
    (row,) = csv.DictReader(io.StringIO(sitebench("export", RUN, cwd=folder).out))
    for name in ("operations", "failures", "ops_per_s", "sent"):
        assert float(row[name]) == pytest.approx(point[name]), name
    for clock in ("latency_us", "service_us", "censored_us"):
        for name in ("mean", "max"):
            assert float(row[f"{clock}.{name}"]) == pytest.approx(point[clock][name])
    exported = sitebench("export", RUN, "--what", "steps", cwd=folder).out
    rows = {(each["program"], each["step"]): each for each in csv.DictReader(io.StringIO(exported))}
    assert len(rows) == len(point["steps"])
    for step in point["steps"]:
        row = rows[step["program"], step["step"]]
        for name in ("count", "failures", "thinking"):
            assert int(row[name]) == step[name], name
        assert int(row["censored_us.n"]) == step["censored"]["n"]


def test_junit_has_the_figures_of_json(mixed: tuple[dict[str, Any], Path]) -> None:
    point, folder = mixed
    case = ET.parse(folder / "j.xml").getroot().find(".//testcase/system-out")
    assert case is not None
    shown = dict(line.split(" = ", 1) for line in (case.text or "").splitlines())
    for name in ("operations", "failures"):
        assert int(shown[name]) == point[name]
    latency = point["latency_us"]
    expected = {"latency_mean_us": latency["mean"], "latency_max_us": latency["max"]}
    for name, value in {"ops_per_s": point["ops_per_s"], **expected}.items():
        assert _number(shown[name]) == pytest.approx(value, rel=1e-5), name
    assert shown["latency_max_us"].startswith(">=")


def test_report_has_the_figures_of_json(mixed: tuple[dict[str, Any], Path]) -> None:
    point, folder = mixed
    sitebench("report", RUN, "--markdown", "r.md", "--out", "r.html", cwd=folder).check(0)
    markdown, html = ((folder / name).read_text() for name in ("r.md", "r.html"))
    html = unescape(html).replace("\u2265", ">=").replace("\u2264", "<=")
    operations = {row[0]: row for row in _rows(markdown, "Operations")}
    assert _number(operations["cell"][4]) == pytest.approx(point["ops_per_s"], rel=5e-3)
    for step in point["steps"]:
        if step["counted"]:
            row = operations[f"- {step['program']}"]
            assert _number(row[4]) == pytest.approx(step["per_s"], rel=5e-3)
            assert int(row[-1]) == step["failures"]
    steps = {(row[1], row[2]): row for row in _rows(markdown, "Steps")}
    for step in point["steps"]:
        row = steps[step["program"], step["step"]]
        counts = [int(text.replace(",", "")) for text in row[3:5]]
        assert counts == [step["count"], step["failures"]]
    for row in (*(row[4:] for row in operations.values()), *steps.values()):
        cells = [unescape(text.replace("\\", "")) for text in row]
        assert [text for text in cells if text not in html] == []


def test_page_has_the_figures_of_its_run_file(
    server: Server, authority: Authority, null: Measured, tmp_path: Path
) -> None:
    found, shown, _ = read_mixed("page", server, Path(authority.ca), null, tmp_path)
    rows = {(row["program"], row["step"]): row for row in shown["steps"]}
    reported = {key: row for key, row in found.reported.rows.items() if key[1] != SEQUENCE}
    assert rows.keys() == reported.keys()
    for key, row in reported.items():
        assert (rows[key]["count"], rows[key]["failed"]) == (row.count, row.failures)
        assert rows[key]["max"] / 1e6 == pytest.approx(row.latency.max, abs=1e-7)
        assert rows[key]["mean"] / 1e6 == pytest.approx(row.latency.mean, abs=1e-7)
        assert rows[key]["at_least"] == (["max", "mean"] if row.unanswered else [])


def _number(text: str) -> float:
    return float(re.sub(r"[^0-9.e+-]", "", text))


def _rows(markdown: str, title: str) -> list[list[str]]:
    """Return the rows of a report's table, without its head."""
    table = markdown.partition(f"### {title}\n\n")[2].partition("\n\n")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]
