"""The cost of a login with each hash of a sweep: from a real sweep, and from invented points."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ils_bench.login.costs import login_costs
from sitebench.monitor.use import MachineUse, ProcessUse
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import series
from sitebench.runs.runfile import RunFile
from sitebench.tables.table import Cell, Table
from sitebench.units import format_rate
from sitebench.verdict.rules.thresholds import USED_UP
from sitebench.verdict.verdict import Bound, Quoted, Verdict
from sitebench.verdict.warning import PointWarning
from tests.support.cli import in_process
from tests.support.points import a_result, a_spec

SWEEP = "ils sweep --operations login --target embedded --entries 100 --users 4 --locales en_US"
ROUNDS = (2_000, 8_000)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hashes, each for a second, on the embedded directory of one thread."""
    path = tmp_path_factory.mktemp("run") / "hashes.sitebench"
    hashes = ",".join(f"pbkdf2-sha256:{rounds}" for rounds in ROUNDS)
    load = ("--hash", hashes, "--warmup", "200ms", "--measure", "1s", "--out", path)
    in_process(*SWEEP.split(), *load).check(0)
    return path


def test_sweep_over_hashes_shows_the_cpu_cost_of_a_login(run: Path) -> None:
    out = run.with_suffix(".md")
    in_process("report", run, "--out", run.with_suffix(".html"), "--markdown", out).check(0)
    lines = out.read_text().partition("### What a login costs")[2].splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "pbkdf2" in line]
    with RunFile(run) as file:
        results = file.results()
    cost_us = [result.demand.cpu_us for result in results if result.demand is not None]
    # Four times the rounds: the cost of a login without its hash is part of both.
    assert 2 < (cost_us[1] or 0) / (cost_us[0] or 1) < 4.5
    for row, result, us, rounds in zip(rows, results, cost_us, ROUNDS, strict=False):
        assert row[0].endswith(f"pbkdf2-sha256:{rounds}")
        # The server has one thread, whatever the machine has.
        assert result.ceiling == 1
        used_up = result.verdict.bound == Bound.TARGET_CPU
        used_up = used_up and (result.target_share or 0.0) >= USED_UP
        assert row[3] == ("1" if used_up else "n/a")
        assert us
        of_a_core = format_rate(result.ops_per_s if used_up else 1e6 / us)
        # Other programs may have kept the server from its core, or from a steady rate.
        usable = result.verdict.grade != Quoted.NOT_USABLE
        assert row[4] == (of_a_core if used_up else f"about {of_a_core}" if usable else "n/a")


def login(
    hashed: str,
    *,
    cores_used: float,
    target_cores: int | None,
    bound: str = Bound.TARGET_CPU,
    warnings: tuple[PointWarning, ...] = (),
    users: int = 16,
) -> PointResult:
    """Return a window of 2 s with 2,000 logins, on a machine of two cores."""
    spec = a_spec("login", 1_000, target="openldap", users=users, settings={"hash": hashed})
    made = a_result(spec, 2_000)
    used = ProcessUse(2.0 * cores_used, allowed_cores=(0, 1))
    use = replace(made.use, target=used, machine=MachineUse(busy_per_core=(0.9, 0.9)))
    verdict = Verdict(bound, bound not in (Bound.GENERATOR, Bound.OTHERS), "", warnings=warnings)
    return replace(made, use=use, target_cores=target_cores, verdict=verdict)


def table(*results: PointResult) -> Table:
    made = login_costs([(each.spec.settings["hash"], each) for each in series(results)])
    assert made is not None
    return made


def texts(made: Table) -> dict[str, list[str]]:
    cells = [[c.text if isinstance(c, Cell) else c for c in row] for row in made.rows]
    return {name: row for name, *row in cells}


@pytest.mark.parametrize(
    ("used", "threads", "cores", "of_a_core"),
    [
        # One thread on a machine of two cores: the thread was exhausted.
        (1.0, 1, "1", "1,000"),
        (2.0, 2, "2", "500"),
        (2.0, None, "2", "500"),
        # Other programs kept the server from its cores, so the server did not exhaust them.
        (1.6, 2, "n/a", "about 625"),
    ],
)
def test_table_of_login_costs_has_the_rate_per_used_core(
    used: float, threads: int | None, cores: str, of_a_core: str
) -> None:
    slow = login("crypt:5000", cores_used=used, target_cores=threads)
    rows = texts(table(login("ssha", cores_used=0.5, target_cores=1, bound="undecided"), slow))
    assert rows["crypt:5000"] == [f"{used:g} ms", "1,000", cores, of_a_core]
    assert rows["ssha"] == ["500 us", "1,000", "n/a", "about 2,000"]


@pytest.mark.parametrize(
    ("bound", "cells"),
    [
        (Bound.GENERATOR, [">= 1,000", "n/a", "about 2,000"]),
        (Bound.OTHERS, [">= 1,000", "n/a", "about 2,000"]),
        (Bound.SCHEDULE, ["1,000", "n/a", "about 2,000"]),
        (Bound.SERIALISED, ["1,000", "n/a", "at most 2,000"]),
        (Bound.DISK, ["1,000", "n/a", "at most 2,000"]),
    ],
)
def test_login_cost_at_partial_load_is_extrapolated_to_a_core(bound: str, cells: list[str]) -> None:
    other = login("ssha512", cores_used=1.0, target_cores=2)
    rows = texts(table(login("ssha", cores_used=0.5, target_cores=2, bound=bound), other))
    assert rows["ssha"] == ["500 us", *cells]


def test_reasons_for_an_inaccurate_login_cost_are_footnotes() -> None:
    kinds = ("login-writes", "login-rehashes", "too-short")
    warnings = tuple(PointWarning(kind, f"it {kind}", "do so") for kind in kinds)
    few = login("crypt:5000", cores_used=1.0, target_cores=1, users=201)
    notes = table(login("ssha", cores_used=1.0, target_cores=1, warnings=warnings), few).notes[1:]
    assert notes[:2] == ["ssha: it login-writes", "ssha: it login-rehashes"]
    assert notes[2].startswith("crypt:5000: up to 201 logins were under way at the edges")
    assert len(notes) == 3


def test_sweep_over_a_single_hash_has_no_cost_table() -> None:
    one = login("ssha", cores_used=1.0, target_cores=1)
    assert login_costs([("a", each) for each in series([one])]) is None
