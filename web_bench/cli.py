"""`sitebench web`: run, sweep, spice, vary, peak, ui and serve; `files_cli` has more."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.measure.options import MeasureOptions
from sitebench.options.command import Argument, argument, command
from sitebench.options.option import combine
from sitebench.suite_base.commands import TestCommands
from web_bench.options import ServeOptions, SweepOptions, WebOptions
from web_bench.suite import SUITE

_WORKLOAD = "Built-in workload (`sitebench web operations` lists them), or a scenario file."
_NAMES = tuple(SUITE.operations)


def _workload(default: str) -> Argument:
    return argument("WORKLOAD", _WORKLOAD, name="operation", words=_NAMES, shown=default)


_TESTS = TestCommands(
    suite=SUITE,
    default="webbench1-static",
    varied="silicon-surf",
    operation=_workload,
    point_options=WebOptions,
    noun="web server",
    measures="Measure a workload with one number of clients.",
    examples={
        "run": [
            "run silicon-surf --users 64",
            "run spice-cgi --users 8 --json",
            "run own.toml --target http://127.0.0.1:8080",
            "run --path / --target https://www.example.org",
            "run webbench1-static --rate 2k --objective 'p99<5ms,failures<0.1%'",
        ],
        "vary": [
            "vary silicon-surf --target nginx --vary processors=1,2 --vary workers=1,2,4",
            "vary --vary network=10mbit,100mbit,none --vary memory=64m,256m --repeats 6",
            "vary webbench1-static --target nginx --vary config:sendfile=on,off",
        ],
        "clients": ["peak silicon-surf --clients 12,24,48,96"],
        "objective": ["peak webbench1-static --objective 'p99<5ms,failures<0.1%'"],
        "ui": ["ui", "ui --target http://127.0.0.1:8080 --users 64 --out tests.sitebench"],
        "operations": ["operations", "operations --show large-filemix"],
    },
    text_of="web_bench.workload:text_of",
)


_SWEEP = combine(SweepOptions, MeasureOptions)


@command(
    _SWEEP,
    argument(
        "WORKLOAD...", _WORKLOAD, name="names", words=_NAMES, several=True, shown=_TESTS.default
    ),
    panel="Measure",
)
def sweep(options: SweepOptions, names: Sequence[str]) -> None:
    """Measure workloads over numbers of clients.

    sitebench web sweep webbench1-static

    sitebench web sweep webbench1-static webbench1-light webbench1-heavy --target apache

    sitebench web sweep webstone2-standard --clients 10,100,600 --repeats 6

    sitebench web sweep own.toml --target https://127.0.0.1:8443 --tls-ca ca.pem

    An interrupted sweep resumes with the same --out.
    """
    from web_bench.points import POINTS
    from web_bench.sweep import sweep as measure

    measure(options, names or [_TESTS.default_of(POINTS, options)])


@command(_SWEEP, panel="Measure")
def spice(options: SweepOptions) -> None:
    """Measure every kind of program of a server, beside the rate of static files.

    These are the kinds of Tables 1 to 11 of the paper of 2000: alone, and in a mix with files and
    TLS.

    sitebench web spice

    sitebench web spice --target apache --clients 1,4,16,60

    sitebench web spice --target http://127.0.0.1:8000 --programs inprocess=/page

    Kinds that the target does not have are left out. A report joins run files that are parts of
    one sweep: sitebench report spice.sitebench shop.sitebench
    """
    from web_bench.sweep import spice as measure

    measure(options)


@command(ServeOptions, panel="Web servers")
def serve(options: ServeOptions) -> None:
    """Serve the files of a workload, or your own folder, until Ctrl-C.

    sitebench web serve

    sitebench web serve --docroot /srv/www --workload webstone2-standard --port 8081
    """
    from web_bench.targets.web_server import serve as serve_web

    serve_web(options)


_OF_TESTS = _TESTS.all()
_OF_FILES = ("seed", "verify")
COMMANDS = {
    "run": _OF_TESTS.pop("run"),
    "sweep": sweep,
    "spice": spice,
    **_OF_TESTS,
    "serve": serve,
    **{name: f"web_bench.files_cli:{name}" for name in _OF_FILES},
}
