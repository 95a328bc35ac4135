"""`sitebench web`: run, sweep, spice, vary, peak, ui and serve; `files_cli` has the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sitebench.errors import BadInput
from sitebench.measure.options import MeasureOptions, refuse_stages, run_file
from sitebench.options.command import Argument, argument, command
from sitebench.options.convert import narrowed
from sitebench.options.option import combined
from sitebench.suite_base.commands import (
    Part,
    TestCommands,
    measure_parts,
    refuse_check,
    say_points,
)
from web_bench.options import ServeOptions, SweepOptions, TestOptions, WebOptions
from web_bench.suite import SUITE

if TYPE_CHECKING:
    from sitebench.measure.command import Tables


_WORKLOAD = "Built-in workload (`sitebench web workloads` lists them), or a scenario file."
_NAMES = tuple(SUITE.operations)


def _workload(default: str) -> Argument:
    return argument("WORKLOAD", _WORKLOAD, name="operation", words=_NAMES, shown=default)


_TESTS = TestCommands(
    suite=SUITE,
    default="webbench1-static",
    varied="silicon-surf",
    operation=_workload,
    one=WebOptions,
    noun="web server",
    measures="Measure a workload with one number of clients.",
    examples={
        "run": [
            "run silicon-surf --users 64",
            "run spice-cgi --users 8 --json",
            "run own.toml --target http://127.0.0.1:8080 --keepalive",
            "run --path / --target https://www.example.org",
            "run webbench1-static --rate 2k --objective 'p99<5ms,failures<0.1%'",
        ],
        "vary": [
            "vary silicon-surf --target nginx --vary processors=1,2 --vary workers=1,2,4",
            "vary --vary network=10mbit,100mbit,none --vary memory=64m,256m --repeats 6",
            "vary webbench1-static --target nginx --vary config:sendfile=on,off",
        ],
        "clients": [
            "peak silicon-surf --clients 12,24,48,96",
        ],
        "objective": [
            "peak webbench1-static --objective 'p99<5ms,failures<0.1%'",
        ],
        "ui": [
            "ui",
            "ui --target http://127.0.0.1:8080 --users 64 --out tests.sitebench",
        ],
    },
)


_SWEEP = combined(SweepOptions, MeasureOptions, TestOptions)


@command(
    _SWEEP,
    argument(
        "WORKLOAD...",
        _WORKLOAD,
        name="names",
        words=_NAMES,
        several=True,
        shown=_TESTS.default,
    ),
    panel="Measure",
)
def sweep(options: Any, names: Sequence[str]) -> None:
    """Measure workloads over numbers of clients.

    sitebench web sweep webbench1-static

    sitebench web sweep webbench1-static webbench1-light webbench1-heavy --target apache

    sitebench web sweep webstone2-standard --clients 10,100,600 --repeats 6

    sitebench web sweep own.toml --target https://127.0.0.1:8443 --tls-ca ca.pem

    An interrupted sweep resumes where it stopped if repeated with the same --out.
    """
    from web_bench.points import POINTS

    _sweep(options, names or [_TESTS.default_of(POINTS, options)], "web-sweep")


def _sweep(options: Any, workloads: Sequence[str], kind: str, first: Tables | None = None) -> None:
    from web_bench.points import POINTS

    refuse_check(options, SUITE)
    if options.paper:
        refuse_stages(options, "`--paper`, which has the paper's loads")
        for given, name in ((options.clients, "--clients"), (options.keepalive, "--keepalive")):
            if given:
                raise BadInput(f"--paper says what {name} says too", "leave out one of both")
    parts = []
    for each in dict.fromkeys(workloads):
        given, name = POINTS.named(options, each)
        # The numbers of clients are the command line's, or the workload's.
        given = replace(POINTS.asked(given), clients=options.clients)
        clients = given.clients or POINTS.program(given, name).clients
        if given.stages is not None and given.stages.of_users:
            if given.clients:
                raise BadInput(
                    "--clients and --stages both say how many users there are", "leave one out"
                )
            clients = (given.users,)
        if options.paper and not options.measure_given:
            # WebStone's rules and WebCat print no length: that of WebBench 1.0 for all.
            ramp_s = 30.0 if name.startswith("webbench1-") else given.warmup
            given = replace(given, warmup=ramp_s, measure=600.0, measure_given=True)
        parts.append(Part(narrowed(combined(MeasureOptions, WebOptions), given), [name], clients))
    if options.paper:
        say_points(parts)
    measure_parts(POINTS, options, parts, run_file(kind), first)


@command(_SWEEP, panel="Measure")
def spice(options: Any) -> None:
    """Measure every kind of program that a server has, and what each keeps of the static rate.

    Those of the paper's Tables 1 to 11 of 2000: alone, and among files and TLS as in a shop.

    sitebench web spice

    sitebench web spice --target apache --clients 1,4,16,60

    sitebench web spice --target http://127.0.0.1:8000 --programs inprocess=/page

    Kinds that the target does not have are left out. A report of several run files joins them
    where they are parts of one sweep: sitebench report spice.sitebench shop.sitebench
    """
    from sitebench.measure.command import say
    from sitebench.tables.screen import PointsTable
    from web_bench.paper.tables import by_workload, spice_tables
    from web_bench.points import POINTS

    if (described := POINTS.described_by(options)) is not None:
        raise BadInput(
            f"{described[1]} says what users do, and spice measures programs", "leave it out"
        )
    found = []
    for name in SUITE.operations:
        if name.startswith(("spice-", "ecommerce-")):
            try:
                POINTS.check(options, [POINTS.program(options, name)])
            except BadInput as error:
                say(f"left out: {error.message}")
            else:
                found.append(name)
    if not found:
        raise BadInput(
            f"{options.target} has none of the programs", "say where its programs are: --programs"
        )
    _sweep(
        options,
        found,
        "web-spice",
        lambda results: [PointsTable(results), "", *spice_tables(by_workload(results))],
    )


@command(ServeOptions, panel="Web servers")
def serve(options: ServeOptions) -> None:
    """Serve a workload's files, or your own folder, until Ctrl-C.

    sitebench web serve

    sitebench web serve --docroot /srv/www --workload webstone2-standard --port 8081
    """
    from rich.console import Console

    from web_bench.targets.web_server import serve as serve_web

    serve_web(options, Console())


_OF_TESTS = _TESTS.all()
_OF_FILES = ("seed", "verify", "workloads")
COMMANDS = {
    "run": _OF_TESTS.pop("run"),
    "sweep": sweep,
    "spice": spice,
    **_OF_TESTS,
    "serve": serve,
    **{name: f"web_bench.files_cli:{name}" for name in _OF_FILES},
}
