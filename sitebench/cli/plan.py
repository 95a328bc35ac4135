"""`sitebench plan`: how many people a machine serves, and how many machines a community needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitebench.errors import BadInput, SitebenchError
from sitebench.options.convert import command_options
from sitebench.plan.options import IlsPlanOptions, PlanOptions, PsPlanOptions

if TYPE_CHECKING:
    from sitebench.plan.choose import Plan
    from sitebench.plan.measured import Meets
    from sitebench.plan.model import Scenario
    from sitebench.plan.rates import PlanRates, RateTable

app = typer.Typer(
    help="Plan capacity: people per machine, machines per community.", no_args_is_help=True
)

ALONE = (
    "each operation met the objective when it was measured alone; in a mix they wait for each other"
)

Run = Annotated[
    Path | None,
    typer.Argument(help="Run file to take the rates from; without it, 1997's.", metavar="RUN"),
]


@app.command()
@command_options(IlsPlanOptions)
def ils(options: IlsPlanOptions, run: Run = None) -> None:
    """Plan a directory of online users, from a run, typed-in rates or 1997's.

    sitebench plan ils

    sitebench plan ils run.sitebench --community 2m --headroom 30% --objective 'p99<5ms'

    sitebench plan ils --rates lookup=40k,add=12k --mix lookup=10,add=1 --session 1h --active 10%

    sitebench plan ils run.sitebench --xlsx plan.xlsx
    """
    from sitebench.plan.rates import RateTable

    typed = None if options.rates is None else RateTable.typed_in(dict(options.rates))
    _plan("ils", options, run, typed)


@app.command()
@command_options(PsPlanOptions)
def ps(options: PsPlanOptions, run: Run = None) -> None:
    """Plan a personalized site, from a run, typed-in rates or 1997's.

    sitebench plan ps --pages-per-s 43.5 --view-time 25s --active 4%

    sitebench plan ps run.sitebench --community 1m --headroom 30%

    sitebench plan ps --preset paper-7000 --objective 'p90<500ms' --json
    """
    from sitebench.plan.rates import PAGES, RateTable

    rate = options.pages_per_s
    _plan("ps", options, run, None if rate is None else RateTable.typed_in({PAGES: rate}))


def _plan(half: str, options: PlanOptions, run: Path | None, typed: RateTable | None) -> None:
    from rich.console import Console

    from sitebench.plan import paper
    from sitebench.plan.choose import plan
    from sitebench.plan.rates import PlanRates
    from sitebench.plan.render import document, shown

    if sum(each is not None for each in (run, typed, options.preset)) > 1:
        raise BadInput("rates come from one place", "give one of RUN, typed-in rates and --preset")
    if options.target is not None and run is None:
        raise BadInput("--target chooses among the targets of a run", "name the run file too")
    presets, _ = paper.of(half)
    asked = presets.get(options.preset or "paper-2500")
    rates, machine = PlanRates(), ""
    if run is not None:
        rates, machine = _read(run, options)
        typed = _target(rates.of(half), run, half, options.target)
    chosen = typed or asked
    assert chosen is not None  # The option accepts only presets that there are.
    estimated = run is None and options.objective is not None
    answer = plan(_scenario(options, estimated=estimated), chosen, _size(half, options, typed))
    if options.objective is not None and not estimated:
        answer = replace(answer, doubts=(*answer.doubts, ALONE))
    beside = [_beside(half, options, each) for each in presets.values() if each is not chosen]
    if options.xlsx is not None:
        _write(Path(options.xlsx), answer, typed, rates, machine)
    if options.json:
        print(json.dumps(document(answer, beside), indent=2))
    else:
        Console().print(shown(answer, beside))


def _size(half: str, options: PlanOptions, typed: RateTable | None) -> int | None:
    """Return the size whose rates are asked for; the paper's example has its own."""
    from sitebench.plan.paper import SIZE

    example = typed is None and options.community is None
    return SIZE if example and options.size is None else options.size


def _scenario(options: PlanOptions, *, estimated: bool) -> Scenario:
    from sitebench.plan.model import Scenario
    from sitebench.plan.parse import estimable

    found: dict[str, Any] = {
        "active": options.active,
        "headroom": options.headroom,
        "community": options.community,
    }
    if estimated and options.objective is not None:
        found["objective"] = estimable(options.objective)
    if isinstance(options, IlsPlanOptions):
        return Scenario(stay_s=options.session, mix=dict(options.mix), **found)
    assert isinstance(options, PsPlanOptions)
    return Scenario(stay_s=options.view_time, **found)


def _beside(half: str, options: PlanOptions, table: RateTable) -> Plan | SitebenchError:
    """Return what a machine of 1997 does in the same scenario, or why it cannot be said."""
    from sitebench.plan.choose import plan

    try:
        return plan(_scenario(options, estimated=True), table, _size(half, options, None))
    except SitebenchError as error:
        return error


def _read(run: Path, options: PlanOptions) -> tuple[PlanRates, str]:
    from sitebench.plan.measured import tables_of
    from sitebench.plan.parse import meets
    from sitebench.plan.rates import PlanRates
    from sitebench.runs.runfile import RunFile

    check: Meets | None = None if options.objective is None else meets(options.objective)
    with RunFile(run) as file:
        results, manifest = file.results(), file.manifest()
    cpu = manifest.get("cpu") or {}
    machine = f"{cpu.get('model', 'unknown processor')}, {cpu.get('usable', '?')} cores"
    tables = PlanRates(tables_of(results, "ils", check), tables_of(results, "ps", check))
    return tables, f"{machine}, {manifest.get('kernel', 'unknown kernel')}; {run}"


def _target(tables: tuple[RateTable, ...], run: Path, half: str, wanted: str | None) -> RateTable:
    names = [table.machine for table in tables]
    if not tables:
        raise BadInput(
            f"{run} has no finished points to plan from",
            f"measure some: sitebench {half} sweep --out {run}",
        )
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted not in names:
        what = f"no target {wanted!r}" if wanted else "several targets"
        raise BadInput(f"{run} has {what}", f"choose one with --target: {'; '.join(names)}")
    return tables[names.index(wanted)]


def _write(
    path: Path, answer: Plan, table: RateTable | None, rates: PlanRates, machine: str
) -> None:
    """Write both halves: the one that was asked about, and the other in the paper's scenario."""
    from sitebench.plan.render import half_of
    from sitebench.plan.workbook.workbook import Planned, example, write

    asked = half_of(answer.scenario)
    sheets = {half: example(half, rates.of(half)) for half in ("ils", "ps")}
    tables = sheets[asked].tables if table is None else (table,)
    others = [each for each in rates.of(asked) if each is not table]
    sheets[asked] = Planned(answer, (*tables, *others))
    write(path, sheets["ils"], sheets["ps"], machine)
