"""`sitebench plan`: people per machine, and machines for a community."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sitebench.errors import BadInput, SitebenchError
from sitebench.options.command import Command, argument, command
from sitebench.plan.options import PlanOptions
from sitebench.plan.suite import PlanSuite, plan_suites

if TYPE_CHECKING:
    from sitebench.plan.choose import Plan
    from sitebench.plan.model import Scenario
    from sitebench.plan.rates import RateTable

_RUN = argument(
    "RUN", "Run file with the rates (default: those of 1997).", parse=Path, required=False
)


def _command(suite: PlanSuite) -> Command:
    @command(suite.options, _RUN, panel="Commands", name=suite.name, explanation=suite.help)
    def plan(options: PlanOptions, run: Path | None) -> None:
        _plan(suite, options, run)

    return plan


COMMANDS = {suite.name: _command(suite) for suite in plan_suites()}


def _plan(suite: PlanSuite, options: PlanOptions, run: Path | None) -> None:
    from sitebench.plan.choose import plan
    from sitebench.plan.render import document, render
    from sitebench.runs.runfile import showing

    typed = options.typed_in()
    if sum(source is not None for source in (run, typed, options.preset)) > 1:
        raise BadInput(
            "rates are given more than once", "give one of RUN, typed-in rates and --preset"
        )
    if options.target is not None and run is None:
        raise BadInput("--target needs RUN", "name the run file, too, or leave --target out")
    rates: Mapping[str, Sequence[RateTable]] = {}
    machine = ""
    if run is not None:
        with showing([run]):
            rates, machine, line = _read(run, options)
        options = options if options.line else dataclasses.replace(options, line=line)
        typed = _target(rates[suite.name], run, suite.name, options.target)
    presets = suite.presets
    table = typed or presets[options.preset or next(iter(presets))]
    estimated = run is None and options.objective is not None
    scenario = _scenario(options, estimated=estimated)
    machines = [table, *(preset for preset in presets.values() if preset is not table)]
    _say_simulating(scenario, machines, table)
    answer = plan(suite, scenario, table, _size(suite, options, typed))
    if options.objective is not None and not estimated:
        met = f"each operation met {options.objective} when measured alone"
        alone = f"{met}; in a mix they also wait for each other"
        answer = replace(answer, warnings=(*answer.warnings, alone))
    calculations = suite.calculations(options, answer.rates, answer.values)
    answer = replace(answer, calculations=tuple(calculations))
    rest = [*_other_plans(suite, options, machines)]
    if options.xlsx is not None:
        _write(Path(options.xlsx), answer, typed, rates, machine)
    if options.json:
        print(json.dumps(document(answer, rest), indent=2))
    else:
        from sitebench.tables.terminal import show

        show(render(answer, rest))


def _size(suite: PlanSuite, options: PlanOptions, typed: RateTable | None) -> int | None:
    """Return the size that the options set, or else the suite's size for the paper's example."""
    example = typed is None and options.community is None
    return suite.size if example and options.size is None else options.size


def _scenario(options: PlanOptions, *, estimated: bool) -> Scenario:
    from sitebench.plan.options import estimable

    objective = options.objective
    return options.scenario(estimable(objective) if estimated and objective is not None else None)


def _say_simulating(scenario: Scenario, machines: Sequence[RateTable], table: RateTable) -> None:
    """Announce a simulation of a queue, which takes seconds for each machine."""
    if scenario.objective is None or scenario.mix is None:
        return
    from sitebench.measure.command import say

    turn = f"{machines.index(table) + 1} of {len(machines)}"
    say(f"{turn}: simulating the queue of {table.machine}, for some seconds or more")


def _other_plans(
    suite: PlanSuite, options: PlanOptions, machines: Sequence[RateTable]
) -> Iterator[Plan]:
    """Yield a plan for each further machine that can serve the scenario."""
    from sitebench.plan.choose import plan

    for table in machines[1:]:
        with suppress(SitebenchError):
            scenario = _scenario(options, estimated=True)
            _say_simulating(scenario, machines, table)
            yield plan(suite, scenario, table, _size(suite, options, None))


def _read(
    run: Path, options: PlanOptions
) -> tuple[dict[str, tuple[RateTable, ...]], str, float | None]:
    """Return the rates by suite, the machine's name, and the bits/s of its busiest network card."""
    from sitebench.plan.measured import tables_of
    from sitebench.runs.runfile import RunFile

    with RunFile(run) as file:
        results, manifest = file.results(), file.manifest()
    cpu = manifest.get("cpu") or {}
    machine = f"{cpu.get('model', 'unknown processor')}, {cpu.get('usable', '?')} cores"
    tables = {suite.name: tables_of(results, suite, options.objective) for suite in plan_suites()}
    when = str(manifest.get("started") or "")[:10]
    cards = [card for r in results for card in r.use.machine.interfaces if card.speed_bits_s]
    busiest = max(cards, key=lambda card: card.bytes_in + card.bytes_out, default=None)
    line = None if busiest is None else float(busiest.speed_bits_s or 0) or None
    words = ", ".join(filter(None, (machine, str(manifest.get("kernel") or ""), when, run.name)))
    return tables, words, line


def _target(tables: Sequence[RateTable], run: Path, suite: str, target: str | None) -> RateTable:
    names = [table.machine for table in tables]
    if not tables:
        raise BadInput(
            f"{run} has no finished points to plan from",
            f"measure points: sitebench {suite} sweep --out {run}",
        )
    if target is None and len(tables) == 1:
        return tables[0]
    if target not in names:
        problem = f"no target {target!r}" if target else "several targets"
        raise BadInput(f"{run} has {problem}", f"choose one with --target: {'; '.join(names)}")
    return tables[names.index(target)]


def _write(
    path: Path,
    answer: Plan,
    table: RateTable | None,
    rates: Mapping[str, Sequence[RateTable]],
    machine: str,
) -> None:
    """Write a workbook of the planned suite and the run's suites; without a run, of all suites."""
    from sitebench.plan.workbook.workbook import Planned, example, write

    name = answer.suite.name
    sheets = {
        suite.name: example(suite, rates.get(suite.name, ()))
        for suite in plan_suites()
        if suite.name == name or not rates or rates[suite.name]
    }
    tables = sheets[name].tables if table is None else (table,)
    rest = [other for other in rates.get(name, ()) if other is not table]
    sheets[name] = Planned(answer, (*tables, *rest))
    write(path, list(sheets.values()), machine)
