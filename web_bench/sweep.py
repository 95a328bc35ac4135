"""`sitebench web sweep` and `spice`: workloads are measured over numbers of clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sitebench.errors import BadInput
from sitebench.measure.command import Tables, say
from sitebench.measure.options import MeasureOptions, refuse_stages, run_file
from sitebench.options.convert import narrow
from sitebench.options.option import combine
from sitebench.runs.repeats import series
from sitebench.suite_base.commands import measure_parts, refuse_check, say_points
from sitebench.suite_base.options import Part
from sitebench.tables.screen import PointsTable
from web_bench.options import SweepOptions, WebOptions
from web_bench.paper.tables import by_workload, spice_tables
from web_bench.points import POINTS
from web_bench.suite import SUITE


def sweep(
    options: SweepOptions,
    workloads: Sequence[str],
    kind: str = "web-sweep",
    first: Tables | None = None,
) -> None:
    refuse_check(options, SUITE)
    if options.paper:
        refuse_stages(options, "`--paper`, which has the paper's loads")
        for value, name in ((options.clients, "--clients"), (options.keepalive, "--keepalive")):
            if value:
                raise BadInput(f"--paper says what {name} says too", "leave out one of both")
    parts = [_part(options, workload) for workload in dict.fromkeys(workloads)]
    if options.paper:
        say_points(parts)
    measure_parts(POINTS, options, parts, run_file(kind), first)


def _part(options: SweepOptions, workload: str) -> Part:
    with_script, name = POINTS.choose(options, workload)
    # The numbers of clients come from the command line, or else from the workload.
    load: Any = POINTS.apply_scenario(with_script)
    load = replace(load, clients=options.clients)
    clients = load.clients or POINTS.program(load, name).clients
    if load.stages is not None and load.stages.of_users:
        if load.clients:
            raise BadInput("--clients and --stages both set the number of users", "leave one out")
        clients = (load.users,)
    if options.paper and not options.is_set("measure"):
        # WebStone and WebCat print no length of a test; the length of WebBench 1.0 is used for
        # them.
        ramp_s = 30.0 if name.startswith("webbench1-") else load.warmup
        load = load.assign(warmup=ramp_s, measure=600.0)
    return Part(narrow(combine(MeasureOptions, WebOptions), load), [name], clients)


def spice(options: SweepOptions) -> None:
    if (described := POINTS.described_by(options)) is not None:
        _, option = described
        raise BadInput(
            f"{option} describes the operations of users, and spice measures programs",
            "leave it out",
        )
    programs = []
    for name in SUITE.operations:
        if name.startswith(("spice-", "ecommerce-")):
            try:
                POINTS.check(options, [POINTS.program(options, name)])
            except BadInput as error:
                say(f"left out: {error.message}")
            else:
                programs.append(name)
    if not programs:
        raise BadInput(
            f"{options.target} has none of the programs", "say where its programs are: --programs"
        )
    sweep(
        options,
        programs,
        "web-spice",
        lambda results: [PointsTable(results), "", *spice_tables(by_workload(series(results)))],
    )
