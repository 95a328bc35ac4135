"""`sitebench ils`: run, sweep, vary, peak, ui and serve; `seeding.cli` has the other commands."""

from __future__ import annotations

from ils_bench.options import IlsOptions, LoadTestOptions, ServeOptions, SweepOptions
from ils_bench.suite import SUITE
from sitebench.options.command import command
from sitebench.suite_base.commands import TestCommands, one_operation, show_operations, show_option

_TESTS = TestCommands(
    suite=SUITE,
    default="lookup",
    operation=one_operation(SUITE),
    point_options=IlsOptions,
    sweep=(SweepOptions, LoadTestOptions),
    several=("hash",),
    noun="directory",
    measures="Measure one operation at one size.",
    sweeps="Measure operations over directory sizes.",
    examples={
        "run": [
            "run lookup --entries 100k --users 64",
            "run lookup --target ldap://127.0.0.1:389 --base ou=people,dc=example,dc=com "
            "--names @people.txt",
            "run lookup --rate 5k --objective 'p99<5ms,failures<0.1%' --junit run.xml",
            "run add --rate 5k --measure 30s --json",
        ],
        "sweep": [
            "sweep mix.toml --sizes 1k,10k",
            "sweep --entries 1k,10k,100k,1m",
            "sweep --entries 1k,10k --repeats 6",
            "sweep --target openldap --entries 1k,10k --out slapd.sitebench",
            "sweep --profile person --hash ssha,pbkdf2-sha256:600000,argon2:64m --entries 1k",
        ],
        "vary": [
            "vary lookup --vary processors=1,2 --vary threads=1,2 --vary keys=uniform,zipfian",
            "vary add --target openldap --vary disk=2mb/s,none --vary memory=64m --repeats 6",
        ],
        "clients": [
            "peak lookup --entries 100k",
            "peak connect --clients 1,2,4,8,16,32 --repeats 6",
        ],
        "objective": [
            "peak lookup --objective 'p99<5ms,failures<0.1%'",
            "peak lookup --objective 'p99<5ms' --target ldap://127.0.0.1:389 "
            "--base ou=people,dc=example,dc=com --names 'uid=user.{i}' --entries 5k --start 500",
        ],
        "ui": [
            "ui",
            "ui --entries 100k --users 64 --out tests.sitebench",
            "ui --web-host 0.0.0.0 --web-login --login-file login --no-browser",
        ],
    },
)


@command(ServeOptions, panel="Directories")
def serve(options: ServeOptions) -> None:
    """Serve the embedded directory until Ctrl-C.

    sitebench directory serve --entries 1m

    sitebench directory serve --suffix dc=example,dc=com --ldif people.ldif --port 3389

    sitebench directory serve --profile ils --port 1002
    """
    from ils_bench.targets.ldap_directory import serve as serve_directory

    serve_directory(options)


@command(
    IlsOptions,
    show_option(SUITE),
    panel="Directories",
)
def operations(options: IlsOptions, show: str | None) -> None:
    """List the operations, or print the scenario file of one, to edit and run.

    sitebench directory operations

    sitebench directory operations --show lookup

    sitebench directory operations --names @people.txt --filter '(uid={name})'
    """
    from ils_bench import quick, sequences
    from ils_bench.login import logins
    from ils_bench.programs import LOGIN

    described = quick.described_by(options)
    if described is not None and show in (None, described[0]):
        print(quick.text_of(options), end="")
        return

    def text_of(operation: str) -> str:
        if operation == LOGIN:
            return logins.text_of(options)
        return sequences.text_of(operation, options.profile)

    show_operations(SUITE, text_of, show)


COMMANDS = {
    **_TESTS.all(),
    "operations": operations,
    "serve": serve,
    **{name: f"ils_bench.seeding.cli:{name}" for name in ("seed", "verify", "schema", "clean")},
}
