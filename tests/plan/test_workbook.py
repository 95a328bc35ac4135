"""The workbook: stored values equal those computed by a spreadsheet and by model.py."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace

from ils_bench.paper.plan import PLAN as ILS
from ps_bench.paper.plan import PLAN as PS
from sitebench.plan.choose import plan
from sitebench.plan.model import PERCENTILES, Scenario, solve
from sitebench.plan.rates import RateTable, Remark
from sitebench.plan.workbook.workbook import Planned, example, write
from tests.support.libreoffice import LibreOffice

TODAY = RateTable(
    "embedded",
    (10_000, 100_000),
    {
        "connect": (9_000.0, 8_000.0),
        "add": (21_000.0, 20_500.0),
        "lookup": (33_000.0, 31_000.0),
        "ils-user": (410.0, None),
    },
)
PAGES = RateTable("embedded", (100_000,), {"pages": (1_234.5,)})
OBJECTIVE = "Response-time objective in ms (0: none)"
FIRST = "C"
"""The column of the planned machine."""


@pytest.fixture(scope="module")
def workbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook with today's rates and user-defined scenarios."""
    busy = Scenario(0.07, 900.0, {"connect": 1.0, "lookup": 9.5}, 0.3, 3_000_000, (0.9, 0.05))
    site = Scenario(0.03, 12.0, None, 0.25, 150_000)
    path = tmp_path_factory.mktemp("plan") / "plan.xlsx"
    write(
        path,
        [
            Planned(plan(ILS, busy, TODAY, 100_000), (TODAY,)),
            Planned(plan(PS, site, PAGES), (PAGES,)),
        ],
        "A fine processor, 2 cores",
    )
    return path


def changed(workbook: Path, name: str, suite: str, label: str, value: float) -> Path:
    """Type a value into a copy, as a user would."""
    book = openpyxl.load_workbook(workbook)
    sheet = book[suite]
    sheet[f"{FIRST}{rows(sheet)[label]}"] = value
    path = workbook.with_name(name)
    book.save(path)
    return path


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Scenario, Scenario, str, int]]:
    dice = random.Random(1997)
    return [draw(dice) for _ in range(8)]


@pytest.fixture(scope="module")
def recalculated(
    workbook: Path, drawn: list[tuple[Scenario, Scenario, str, int]], libreoffice: LibreOffice
) -> dict[str, Path]:
    """The workbook and changed copies, computed by one LibreOffice, because its start is slow."""
    # openpyxl stores formulas without values, so all later values were computed.
    empty = workbook.with_name("empty.xlsx")
    openpyxl.load_workbook(workbook).save(empty)
    assert {value for _, value in formulas(empty).values()} == {None}
    copies = [
        workbook,
        empty,
        changed(workbook, "missing.xlsx", "Directory", "Number of ils-user per session", 1),
        changed(workbook, "slow.xlsx", "Personalized site", OBJECTIVE, 1e-6),
    ]
    for n, (directory, site, machine, size) in enumerate(drawn):
        book = openpyxl.load_workbook(workbook)
        fill(book["Directory"], directory, machine, size)
        fill(book["Personalized site"], site, "ProLiant 7000 (1997)", size)
        copies.append(workbook.with_name(f"changed-{n}.xlsx"))
        book.save(copies[-1])
    return {path.stem: path for path in libreoffice.recalculated(copies)}


def formulas(path: Path) -> dict[tuple[str, str], tuple[str, Any]]:
    """Return every formula by sheet and cell, and the value stored beside it."""
    book, stored = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    return {
        (sheet.title, cell.coordinate): (cell.value, stored[sheet.title][cell.coordinate].value)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


def same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str) or None in (one, other):
        return (one or "") == (other or "")
    return math.isclose(one, other, rel_tol=1e-12)


def rows(sheet: Any) -> dict[str, int]:
    """Return the position of each label of a what-if sheet; of equal labels, the first."""
    found: dict[str, int] = {}
    for (cell,) in sheet.iter_rows(min_col=2, max_col=2):
        if cell.value is not None:
            found.setdefault(str(cell.value), cell.row)
    return found


def cells(path: Path, sheet: str) -> Callable[..., Any]:
    """Return a function that looks up stored values by label."""
    found = openpyxl.load_workbook(path, data_only=True)[sheet]
    places = rows(found)
    return lambda label, column=FIRST: found[f"{column}{places[label]}"].value


@pytest.mark.parametrize("copy", ["plan", "empty"])
def test_libreoffice_agrees_with_every_cell(
    copy: str, workbook: Path, recalculated: dict[str, Path]
) -> None:
    """With the workbook as written, and with a copy that has no stored values."""
    stored = formulas(workbook)
    computed = openpyxl.load_workbook(recalculated[copy], data_only=True)
    assert len(stored) > 100
    wrong = {
        place: (formula, value, computed[place[0]][place[1]].value)
        for place, (formula, value) in stored.items()
        if not same(value, computed[place[0]][place[1]].value)
    }
    assert not wrong


def test_first_machine_of_the_workbook_has_the_plans_answers(workbook: Path) -> None:
    site = cells(workbook, "Personalized site")
    values = solve(Scenario(0.03, 12.0, None, 0.25, 150_000), {"pages": 1_234.5})
    assert site("Simultaneous users (users)") == values["simultaneous"]
    assert site("Community that one machine serves (people)") == values["served"]
    assert site("Machines needed (machines)") == values["machines"]


def test_sheet_uses_the_measured_size_that_fits_the_community_and_marks_bounds(
    workbook: Path, tmp_path: Path
) -> None:
    """As on the console: 1997's rates were those of 10,000 people for any community."""
    site = cells(workbook, "Personalized site")
    assert [site("Size measured", column) for column in "DE"] == [1_000_000, 1_000_000]
    bound = Remark("pages", 100_000, "a lower bound: other programs had the cores")
    pages = replace(PAGES, remarks=(bound,))
    path = tmp_path / "plan.xlsx"
    community = Scenario(0.03, 12.0, None, 0.25, 90_000)
    write(path, [Planned(plan(PS, community, pages), (pages,))], "A fine processor")
    note = openpyxl.load_workbook(path)["Personalized site"]["A2"].value
    assert "pages at 100k: a lower bound: other programs had the cores" in note
    site = cells(path, "Personalized site")
    assert [site("Size measured", column) for column in "DE"] == [100_000, 100_000]


def test_sheets_without_a_run_have_the_example_of_1997(tmp_path: Path) -> None:
    path = tmp_path / "plan.xlsx"
    write(path, [example(ILS, ()), example(PS, ())], "")
    ils, ps = cells(path, "Directory"), cells(path, "Personalized site")
    assert [ils("Machine", column) for column in "CDE"] == [
        "ProLiant 7000 (1997): replace its rates by yours",
        *(table.machine for table in ILS.presets.values()),
    ]
    assert round(ils("Simultaneous users (users)", "D")) == 119_741
    assert ps("Simultaneous users (users)", "D") == 1_087.5
    assert ps("Community that one machine serves (people)", "D") == 27_187.5


def test_input_cells_are_marked_named_and_validated(workbook: Path) -> None:
    book = openpyxl.load_workbook(workbook)
    names = set(book.defined_names)
    assert {"ILS_active", "ILS_session_min", "ILS_n_lookup", "ILS_n_ils_user"} <= names
    assert {"PS_active", "PS_view_s", "PS_headroom", "PS_community", "PS_rates"} <= names
    ils = book["Directory"]
    checked = {str(each.sqref): each for each in ils.data_validations.dataValidation}
    for label in ("Share of the whole community active at once", "Machine"):
        cell = f"{FIRST}{rows(ils)[label]}"
        assert ils[cell].fill.fgColor.rgb == "FFFFF2CC"
        assert cell in checked
    assert checked[f"{FIRST}{rows(ils)['Machine']}"].formula1 == "ILS_machines"
    assert [len(book[name]._charts) for name in ("Directory", "Personalized site")] == [2, 2]
    assert "A fine processor, 2 cores" in str([cell.value for cell in book["Notes"]["A"]])


def test_changed_inputs_yield_the_results_of_the_model(
    drawn: list[tuple[Scenario, Scenario, str, int]], recalculated: dict[str, Path]
) -> None:
    tables = {table.machine: table for table in (TODAY, *ILS.presets.values())}
    pages = PS.presets["paper-7000"]
    for n, (directory, site, machine, size) in enumerate(drawn):
        path = recalculated[f"changed-{n}"]
        agrees(cells(path, "Directory"), solve(directory, tables[machine].rates_at(size)))
        agrees(cells(path, "Personalized site"), solve(site, pages.rates_at(size)))


def draw(dice: random.Random) -> tuple[Scenario, Scenario, str, int]:
    """Return two scenarios, and a machine at a size for which both suites have rates."""
    machine = dice.choice([TODAY.machine, *(table.machine for table in ILS.presets.values())])
    mix = {name: round(dice.uniform(0, 9), 1) for name in ("connect", "add")} | {"lookup": 2.5}

    def one(stay_s: float, mix: dict[str, float] | None) -> Scenario:
        return Scenario(
            round(dice.uniform(0.001, 1), 4),
            stay_s,
            mix,
            round(dice.uniform(0, 0.9), 3),
            dice.randrange(1, 10**8),
            None if mix else (dice.choice([*PERCENTILES.values()]), dice.uniform(0.5, 9)),
            dice.choice([1, 3]),
            dice.choice([1.0, 1.5]),
        )

    return one(dice.randrange(60, 6_000), mix), one(dice.uniform(0.5, 90), None), machine, 10_000


def fill(sheet: Any, scenario: Scenario, machine: str, size: int) -> None:
    """Type a scenario into a sheet, as a user would."""
    # A machine that an objective keeps partly idle has headroom.
    leaves_room = scenario.objective is None and scenario.burst > 1
    typed: dict[str, Any] = {
        "Share of the whole community active at once": scenario.active,
        "Headroom: share of a machine to leave free": 0 if leaves_room else scenario.headroom,
        "Arrivals in the busiest minutes, of the average": scenario.burst,
        "Community to serve": scenario.community,
        "Machine": machine,
        "Size measured": size,
    }
    if scenario.mix is None:
        assert scenario.objective is not None
        share, within_s = scenario.objective
        percentile = next(name for name, each in PERCENTILES.items() if each == share)
        typed |= {
            "Seconds a visitor looks at a page": scenario.stay_s,
            "Percentile of the objective": percentile,
            OBJECTIVE: within_s * 1e3,
            "Cores of a machine, for the objective": scenario.cores,
        }
    else:
        if leaves_room:
            label = "How busy a machine may be for an objective"
            typed[label] = 1 - scenario.headroom
        typed["Minutes of a user's session"] = scenario.stay_s / 60
        typed |= {f"Number of {name} per session": n for name, n in scenario.mix.items()}
    places = rows(sheet)
    for label, value in typed.items():
        sheet[f"{FIRST}{places[label]}"] = value


def agrees(cell: Callable[..., Any], values: dict[str, float]) -> None:
    for label, key in (
        ("Simultaneous users (users)", "simultaneous"),
        ("Community that one machine serves (people)", "served"),
        ("People active at once (users)", "online"),
        ("Machines needed (machines)", "machines"),
        ("How busy each of them is (share)", "busy"),
    ):
        assert math.isclose(cell(label), values[key], rel_tol=1e-9), label


def test_missing_rate_yields_no_answer(recalculated: dict[str, Path]) -> None:
    assert cells(recalculated["missing"], "Directory")("Simultaneous users (users)") == "n/a"


def test_impossible_objective_yields_no_negative_users(recalculated: dict[str, Path]) -> None:
    slow = recalculated["slow"]
    cell = cells(slow, "Personalized site")
    for label in ("Simultaneous users (users)", "Machines needed (machines)"):
        assert cell(label) == "n/a"
    assert cell("Check") == "objective cannot be met"
    numbers = [value for _, value in formulas(slow).values() if isinstance(value, (int, float))]
    assert min(numbers) >= 0
