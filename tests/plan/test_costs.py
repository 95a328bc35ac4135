"""A plan of costs in the workbook and in the page: the numbers of the command, and live."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest

from tests.ils_bench.test_login_plan import HIGH, LOW, a_run, login, planned
from tests.plan.test_page import READ, SET
from tests.support.browser import Browser, browsing
from tests.support.cli import in_process
from tests.support.libreoffice import LibreOffice

ARGON2 = (login("argon2:16m", 50.0, 26.0 + 16 * 16), login("argon2:64m", 290.0, 26.0 + 16 * 64))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("run") / "logins.sitebench"
    return a_run(path, login("ssha", 0.12), LOW, HIGH, *ARGON2)


def column(path: Path) -> dict[str, list[Any]]:
    """Return what is beside each label of the sheet, from the first law to the last."""
    sheet = openpyxl.load_workbook(path, data_only=True)["LOGINS"]
    found: dict[str, list[Any]] = {}
    for label, value in sheet.iter_rows(max_col=2, values_only=True):
        if label is not None and value is not None:
            found.setdefault(label, []).append(value)
    return found


CPU_MS = "CPU of a login, from half the least to 2 times the most measured (ms)"


def test_the_workbook_goes_on_computing(run: str, tmp_path: Path, libreoffice: LibreOffice) -> None:
    path = tmp_path / "plan.xlsx"
    hashes = "pbkdf2-sha256:300000,argon2:32m"
    answers, _ = planned(run, "--hash", hashes, "--xlsx", str(path))
    rounds, memory = answers.values()
    stored = column(path)
    assert stored[CPU_MS] == pytest.approx([rounds["cpu_ms"], memory["cpu_ms"]])
    assert stored["memory of the server (GiB)"][1] == pytest.approx(memory["memory_gib"])
    copies = []
    typed_in: dict[str, dict[str, float]] = {
        "as-stored": {},
        "twice": {"Rounds to plan with": 600_000, "MiB of memory to plan with": 64},
        "beyond": {"Rounds to plan with": 1_200_001, "MiB of memory to plan with": 7.9},
    }
    for name, typed in typed_in.items():
        book = openpyxl.load_workbook(path)
        for label, value in book["LOGINS"].iter_rows(max_col=2):
            if label.value in typed:
                value.value = typed[label.value]
        copies.append(tmp_path / f"{name}.xlsx")
        book.save(copies[-1])
    same, twice, beyond = map(column, libreoffice.recalculated(copies))
    for label, values in stored.items():
        assert same[label] == pytest.approx(values, rel=1e-9), label
    assert twice[CPU_MS] == pytest.approx([90.5, 290.0])
    assert twice["memory of the server (GiB)"][1] == pytest.approx((26 + 16 * 64) / 1_024)
    # The command refuses these, and so does the workbook.
    assert beyond[CPU_MS] == ["n/a", "n/a"]
    assert beyond["cores that the logins to plan for take (cores)"] == ["n/a", "n/a"]


@pytest.fixture
def browser(chromedriver: Path, tmp_path: Path, run: str) -> Iterator[Browser]:
    """The report of that run."""
    page = tmp_path / "report.html"
    ran = in_process("report", run, "--out", str(page))
    assert ran.code == 0, ran.err
    (tmp_path / "browser").mkdir()
    with browsing(chromedriver, tmp_path / "browser") as opened:
        opened.open(page.as_uri())
        yield opened


def shown(browser: Browser, law: str) -> dict[str, float | None]:
    read = READ.replace("data-suite=${arguments[0]}", 'data-law="${arguments[0]}"')
    found = json.loads(browser.run(read, law))
    return {key: float(value) if value else None for key, (_, value) in found.items()}


def put(browser: Browser, law: str, name: str, value: object) -> None:
    at = SET.replace("data-suite=${suite}", 'data-law="${suite}"')
    browser.run(at, law, name, str(value))


def test_the_page_of_a_sweep_over_hashes_goes_on_computing(browser: Browser, run: str) -> None:
    # ssha, pbkdf2-sha256 and argon2, as the command has them.
    answers, warnings = planned(run)
    assert warnings[0] in browser.text("#plan")
    for n, each in enumerate(answers.values()):
        found = shown(browser, f"logins-{n}")
        assert found["carried_per_s"] == pytest.approx(each["logins_per_s"])
        assert found["memory_gib"] == pytest.approx(each["memory_gib"])
    for name, value in {"work": 300_000, "cores": 4, "headroom": 0.2, "logins_per_s": 500}.items():
        put(browser, "logins-1", name, value)
    more = ("--hash", "pbkdf2-sha256:300000", "--cores", "4", "--headroom", "20%")
    (again,) = planned(run, *more, "--logins", "500")[0].values()
    found = shown(browser, "logins-1")
    assert found["carried_per_s"] == again["logins_per_s"]
    assert found["cores_needed"] == again["cores"]
    put(browser, "logins-1", "work", 1_200_001)
    assert shown(browser, "logins-1")["carried_per_s"] is None


def test_a_report_without_costs_has_no_law_of_them(tmp_path: Path) -> None:
    """Costs of two targets are no plan; the report is made all the same."""
    run = a_run(tmp_path / "run.sitebench", LOW, login("ssha", target="other"))
    page = tmp_path / "report.html"
    assert in_process("report", run, "--out", str(page)).code == 0
    assert "Logins with" not in page.read_text()
