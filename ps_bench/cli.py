"""`sitebench ps`: run, sweep, vary, peak, ui, operations and serve; `files_cli` has more."""

from __future__ import annotations

from ps_bench.options import PsOptions, ServeOptions, SweepOptions, TestOptions
from ps_bench.suite import SUITE
from sitebench.options.command import command
from sitebench.suite_base.commands import TestCommands, one_operation

_PANEL = "Sites"

_TESTS = TestCommands(
    suite=SUITE,
    default="scenario",
    operation=one_operation(SUITE),
    point_options=PsOptions,
    sweep=(SweepOptions, TestOptions),
    noun="site",
    measures="Measure the paper's scenario, or a single request, at one size.",
    sweeps="Measure the scenario over sizes of the database.",
    examples={
        "run": [
            "run --entries 100k --users 64",
            "run site.toml --target http://127.0.0.1:5000 --entries 1k",
            "run --rate 200 --measure 60s --objective 'p99<50ms,failures<0.1%' --junit run.xml",
            "run page --keepalive --json",
        ],
        "sweep": [
            "sweep --entries 1k,10k,100k,1m",
            "sweep --entries 1k,10k --repeats 6",
            "sweep --keepalive --entries 1k,1m --out kept.sitebench",
        ],
        "vary": [
            "vary --vary processors=1,2 --vary workers=1,2 --vary keepalive=off,on",
            "vary page --vary network=10mbit,100mbit,none --vary row-cache=0,10000 --repeats 6",
        ],
        "clients": [
            "peak --entries 100k",
            "peak page --keepalive --clients 1,2,4,8,16,32 --repeats 6",
            "peak site.toml --clients 50,100,200 --objective 'p95<300ms'",
        ],
        "objective": [
            "peak --objective 'p99<50ms,failures<0.1%'",
            "peak site.toml --objective 'p90<1s' --target http://127.0.0.1:5000",
        ],
        "ui": [
            "ui",
            "ui --entries 100k --users 64 --out tests.sitebench",
            "ui --target http://127.0.0.1:8000 --scenario site.toml --no-browser",
        ],
        "operations": ["operations", "operations --show scenario"],
    },
    text_of="ps_bench.operations:text_of",
)


@command(ServeOptions, panel=_PANEL)
def serve(options: ServeOptions) -> None:
    """Serve the personalized site until Ctrl-C.

    sitebench site serve --entries 1m

    sitebench site serve --database people.sqlite --durability full --port 8081
    """
    from ps_bench.targets.personalized_site import serve as serve_site

    serve_site(options)


COMMANDS = {
    **_TESTS.all(),
    "serve": serve,
    "seed": "ps_bench.files_cli:seed",
    "example": "ps_bench.files_cli:example",
    "from-har": "ps_bench.files_cli:from_har",
}
