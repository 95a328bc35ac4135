"""A scenario or its data edited during a sweep: a point measures the planned text, or fails."""

import contextlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS as ILS
from ps_bench.options import PsOptions
from ps_bench.points import POINTS as PS
from sitebench.errors import BadFile
from sitebench.measure.options import MeasureOptions
from sitebench.measure.point_process import Runner
from sitebench.options.addresses import MasterAddress
from sitebench.options.option import combine
from sitebench.runs.point import PointResult
from sitebench.runs.store import RunStore
from sitebench.suite_base.options import Part
from sitebench.suite_base.points import SuitePoints, untold
from sitebench.system.network import free_port
from tests.scenario.people import BASE, a_place, write_accounts
from tests.support.http_server import other_site
from tests.support.programs import run_program
from tests.support.workers import forked_workers
from web_bench.options import WebOptions
from web_bench.points import POINTS as WEB

SEARCH = f"""
base = "{BASE}"
data.person.file = "accounts.csv"

[[operation]]
search = "(uid={{person.uid}})"
expect.entries = 1
"""
GET = """
data.person.file = "accounts.csv"

[[operation]]
get = "/{person.uid}"
expect.status = 200
"""
LOCUSTFILE = """
from pathlib import Path
from {module}.locustfile import FileUser
from {module}.suite_run import {run}

prepare = {run}.prepare

def edited(self, *arguments):
    prepared = prepare(self, *arguments)
    for name, text in {edits!r}.items():
        Path(name).write_text(text)
    return prepared

{run}.prepare = edited
"""
"""A suite's locustfile that edits files after they were read and compared."""


class Case(NamedTuple):
    points: SuitePoints[Any, Any, Any]
    options: type[Any]
    scenario: str


SUITES = [Case(ILS, IlsOptions, SEARCH), Case(PS, PsOptions, GET), Case(WEB, WebOptions, GET)]
LOADS = pytest.mark.parametrize("workers", [None, 1], ids=["alone", "workers"])
OF_SUITES = pytest.mark.parametrize("case", SUITES, ids=["ils", "ps", "web"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(
    case: Case,
    folder: Path,
    workers: int | None,
    *,
    edit: Callable[[], object] = lambda: None,
    edits: dict[str, str] | None = None,
) -> PointResult:
    """Measure a scenario: `edit` is called after planning, `edits` is written within the point."""
    (folder / "mix.toml").write_text(case.scenario)
    write_accounts(folder)
    bind = MasterAddress("127.0.0.1", free_port())
    with contextlib.ExitStack() as stack:
        if case.points is ILS:
            url = stack.enter_context(a_place(folder)).directory.url
        else:
            url, _ = stack.enter_context(other_site())
        options = combine(MeasureOptions, case.options)(
            scenario="mix.toml",
            target=url,
            users=2,
            think=0.02,
            warmup=0.0,
            measure=0.5,
            workers=workers,
            bind=bind,
        )
        stage = case.points.stage(Part(options, ["mix"]), untold)
        if workers:
            stack.enter_context(forked_workers(folder, str(bind)))
        store = stack.enter_context(RunStore(folder / "run"))
        test = stage.tests[0].at(stack.enter_context(stage.open()))
        store.plan([test.spec])
        if edits is not None:
            suite = case.points.suite
            run, module = f"{suite.name.title()}Run", f"{suite.name}_bench"
            own = folder / "edited.py"
            own.write_text(LOCUSTFILE.format(module=module, run=run, edits=edits))
            test = replace(test, locustfile=own)
        edit()
        return stack.enter_context(Runner()).run(test, store)


@OF_SUITES
@LOADS
def test_scenario_is_measured_as_planned_despite_a_later_edit(
    case: Case, workers: int | None, folder: Path
) -> None:
    text = case.scenario.replace("entries = 1", "entries = 9").replace("= 200", "= 404")
    result = measured(case, folder, workers, edit=lambda: (folder / "mix.toml").write_text(text))
    assert result.failures == 0
    assert result.operations > 10


@OF_SUITES
def test_point_with_data_edited_after_planning_fails(case: Case, folder: Path) -> None:
    with pytest.raises(BadFile, match=r"^the data 'person' of mix\.toml changed after"):
        measured(case, folder, None, edit=lambda: write_accounts(folder, 99))


@OF_SUITES
@LOADS
def test_edit_during_a_point_is_ignored(case: Case, workers: int | None, folder: Path) -> None:
    wrong = case.scenario.replace("entries = 1", "entries = 9").replace("= 200", "= 404")
    edits = {"mix.toml": wrong}
    if not workers:
        edits["accounts.csv"] = "uid,password\nnobody,a\n"
    result = measured(case, folder, workers, edits=edits)
    assert result.failures == 0
    assert result.operations > 10


@OF_SUITES
def test_workers_refuse_data_edited_after_the_begin_of_a_point(case: Case, folder: Path) -> None:
    with pytest.raises(BadFile, match=r"the data 'person' of mix\.toml: its content differs"):
        measured(case, folder, 1, edits={"accounts.csv": "uid,password\nnobody,a\n"})


# A command reads a scenario file once, for all of its uses.

COUNTED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
from sitebench.cli.main import main
try:
    main()
finally:
    print("read", sum(str(each).endswith("mix.toml") for each in opened))
"""
LOAD = ("--users", "2", "--think", "20ms", "--warmup", "0s", "--measure", "300ms")


@pytest.mark.parametrize(
    "argv",
    [
        ("ps", "run", "mix.toml"),
        ("web", "sweep", "--scenario", "mix.toml", "--clients", "1,2"),
        ("ps", "run", "mix.toml", "--check"),
    ],
    ids=" ".join,
)
def test_scenario_file_is_read_once(argv: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text('[[operation]]\nget = "/a"\nexpect.status = 200\n')
    with other_site() as (url, _):
        load = () if "--check" in argv else LOAD[2:] if "--clients" in argv else LOAD
        ran = run_program(
            [sys.executable, "-c", COUNTED, *argv, "--target", url, *load], cwd=tmp_path
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "read 1"
