"""`sitebench plan` as a user runs it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-untyped]
import pytest
from msgspec.structs import replace

from sitebench.monitor.use import InterfaceUse
from sitebench.runs.store import RunStore
from tests.plan.test_measured import a_page_result, invalid
from tests.support.cli import in_process
from tests.support.points import a_result, a_spec
from tests.support.runs import write_run


def planned(*argv: str) -> dict[str, Any]:
    ran = in_process("plan", *argv, "--json").check(0)
    found: dict[str, Any] = json.loads(ran.out)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(a_run(tmp_path_factory.mktemp("plan") / "run.sitebench"))


def a_run(path: Path, rate: float | None = None, cards: Sequence[InterfaceUse] = ()) -> Path:
    """Write a run of a directory and a site, with one invalid point."""
    at_random = {"a": "b", "arrivals": "poisson"}
    specs = [
        a_spec(name, 10_000, rate=rate, settings=at_random) for name in ("connect", "add", "lookup")
    ]
    results = [
        *(a_result(spec, 8_000) for spec in specs),
        invalid(a_result(a_spec("lookup", 20_000))),
        a_page_result(400.0, 50_000),
    ]
    machine = replace(results[0].use.machine, interfaces=tuple(cards))
    results[0] = replace(results[0], use=replace(results[0].use, machine=machine))
    manifest = {"cpu": {"model": "A fine processor", "usable": 2}}
    return write_run(path, *results, manifest=manifest)


def test_plan_of_the_site_matches_the_paper() -> None:
    ran = in_process(
        "plan", "ps", "--pages-per-s", "43.5", "--view-time", "25s", "--active", "4%"
    ).check(0)
    assert "1,088" in ran.out
    assert "27,188" in ran.out
    assert "They agree." not in ran.out
    assert "They agree." in in_process("plan", "ps", "--preset", "paper-2500").out


def test_run_of_a_site_without_pages_advises_how_to_count_pages(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", a_result(a_spec(suite="ps", operation="scenario")))
    ran = in_process("plan", "ps", str(run)).check(2, "has no rate for pages", "`page = true`")
    assert "--mix" not in ran.err


def test_plan_of_the_directory_prints_its_answer_beside_that_of_the_paper() -> None:
    ran = in_process("plan", "ils").check(0)
    for text in (
        "demand s = cost connect + cost add + cost lookup",
        "simultaneous = busy limit x session s / demand s",
        *("3,946 / 98,639", "119,741 / 2,993,521", "7,842 / 196,052", "188,081 / 4,702,016"),
        "They differ",
    ):
        assert text in ran.out


def test_run_provides_the_rates_of_both_suites(run: str) -> None:
    ils = planned("ils", run, "--community", "200k", "--headroom", "30%")
    assert ils["machine"] == "embedded"
    assert ils["size"] == 10_000
    assert ils["answers"]["machines"] == 1
    ps = planned("ps", run, "--active", "2%")
    assert ps["values"]["pages_per_s"] == 400.0
    assert ps["answers"] == {"simultaneous": 10_000, "community": 500_000}


def test_run_can_be_planned_with_an_objective_that_its_rates_met(run: str, tmp_path: Path) -> None:
    scheduled = str(a_run(tmp_path / "run.sitebench", rate=4_000))
    met = planned("ils", scheduled, "--objective", "p50<5ms")
    assert met["values"]["queue_limit"] == 1
    # Only this line of the plan names its objective.
    assert "each operation met p50<5ms when measured alone" in met["doubts"][-1]
    in_process("plan", "ils", scheduled, "--objective", "p50<5us").check(2, "met the objective")
    in_process("plan", "ils", run, "--objective", "p50<5ms").check(
        2, "sitebench ils peak connect --objective 'p50<5ms', with the run's --target"
    )


def test_users_of_a_mix_are_estimated_from_the_times_of_all_its_operations() -> None:
    """From the mix's mean alone 183 users were promised, where 7 meet the objective."""
    mix = ("--rates", "spice-static=1000,spice-cgi=10", "--mix", "spice-static=98,spice-cgi=2")
    made = planned("web", *mix, "--objective", "p99<150ms")
    assert made["size"] is None
    assert 0 < made["answers"]["simultaneous"] <= 8
    assert made["values"]["queue_limit"] == made["values"]["busy_limit"]
    in_process("plan", "web", *mix, "--objective", "p50<1s,p99<2s").check(2, "several percentiles")
    in_process("plan", "web", *mix, "--objective", "p99<90ms").check(
        2, "100 ms for spice-cgi on average"
    )


def test_simulation_of_queues_reports_its_progress() -> None:
    """A simulation took up to a minute on a busy machine, without output."""
    ran = in_process("plan", "ils", "--objective", "p90<50ms").check(0)
    said = ran.err.splitlines()
    assert len(said) > 1
    assert said[0].startswith(f"1 of {len(said)}: simulating the queue of ProLiant 2500 (1997)")
    assert "simulating" not in in_process("plan", "ils").err


def test_what_if_lines_have_half_and_double_inputs() -> None:
    found = {each["case"]: each for each in planned("ps", "--pages-per-s", "43.5")["what_if"]}
    assert found["half the active share"]["community"] == 54_375
    assert found["double the seconds per page"]["simultaneous"] == 2_175


def test_run_without_a_suite_advises_how_to_measure_it(tmp_path: Path) -> None:
    path = tmp_path / "run.sitebench"
    with RunStore(path) as store:
        store.set_manifest({})
    in_process("plan", "ps", str(path)).check(2, f"sitebench ps sweep --out {path}")


def test_target_must_be_chosen_if_the_run_has_two(tmp_path: Path) -> None:
    counts = {"embedded": 9_000, "openldap": 1_000}
    results = [a_result(a_spec(target=target), count) for target, count in counts.items()]
    path = write_run(tmp_path / "run.sitebench", *results)
    argv = ("plan", "ils", str(path), "--mix", "lookup=1")
    in_process(*argv).check(2, "embedded; openldap")
    assert planned(*argv[1:], "--target", "openldap")["machine"] == "openldap"


def test_network_line_is_that_of_the_busiest_monitored_card(tmp_path: Path) -> None:
    """The line was 10 Mbit/s, as in 1997."""
    cards = [
        InterfaceUse("lo", 10**9, 10**9, 1, 1, 0),
        InterfaceUse("eth0", 9, 9, 1, 1, 0, 25 * 10**8),
    ]
    for name, used, bits_per_s in (("with", cards, 2.5e9), ("without", [], 1e9)):
        run = a_run(tmp_path / f"{name}.sitebench", cards=used)
        ran = in_process("plan", "ils", str(run), "--size", "10k", "--json")
        (network, *_) = json.loads(ran.out)["calculations"]
        assert network["values"]["line_bits_per_s"] == bits_per_s


def test_plan_of_the_directory_lists_people_online_or_all_people(run: str) -> None:
    online = in_process("plan", "ils", run, "--community", "100k").out
    assert "those online: 4,000 of 100,000" in online
    refused = in_process("plan", "ils", run, "--community", "100k", "--lists", "all")
    assert "each machine would have 100,000 people" in refused.err
    whole = in_process("plan", "ils", run, "--community", "15k", "--lists", "all").out
    assert "directory would have 15,000 people" in whole


def test_workbook_has_sheets_of_measured_suites_and_the_machine(run: str, tmp_path: Path) -> None:
    book = tmp_path / "plan.xlsx"
    in_process("plan", "ils", run, "--community", "100k", "--xlsx", book).check(0)
    sheets = openpyxl.load_workbook(book, data_only=True)
    assert {name.split()[0] for name in sheets.sheetnames} == {"Directory", "Personalized", "Notes"}
    sheet = sheets["Directory"]
    assert "A fine processor, 2 cores" in sheet["A2"].value
    assert run not in sheet["A2"].value
    assert (sheet["B3"].value, sheet["C3"].value) == ("Machines needed for the community below", 1)
