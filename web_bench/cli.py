"""`sitebench web`: run, sweep, spice, peak, ui, serve, seed, verify and workloads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from sitebench.errors import BadInput
from sitebench.measure.options import run_file
from sitebench.options.convert import command_options
from sitebench.options.help import App
from sitebench.suite_base import commands
from web_bench.options import (
    FileSetOptions,
    LocustOptions,
    PeakOptions,
    RunOptions,
    ServeOptions,
    SweepOptions,
    UiOptions,
    VerifyOptions,
    WebOptions,
)
from web_bench.suite import SUITE

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sitebench.measure.command import Tables
    from web_bench.workload import RequestClass, Workload

_SECOND = "second processor"
app = App()

_NAMES = list(SUITE.operations)
_WORKLOAD = typer.Argument(
    help="Built-in workload (`sitebench web workloads` lists them), or a TOML file.",
    autocompletion=lambda: _NAMES,
    metavar="WORKLOAD",
)


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def run(
    options: RunOptions,
    name: Annotated[str, _WORKLOAD] = "webbench1-static",
) -> None:
    """Measure a workload with one number of clients.

    sitebench web run silicon-surf --users 64

    sitebench web run spice-cgi --users 8 --json

    sitebench web run own.toml --target http://127.0.0.1:8080 --keepalive

    sitebench web run webbench1-static --rate 2k --objective 'p99<5ms,failures<0.1%'
    """
    options, operation = _named(options, name)
    _measure([operation], options, [options.users], default_out=None)


@app.command(rich_help_panel="Measure")
@command_options(SweepOptions)
def sweep(
    options: SweepOptions,
    names: Annotated[list[str], _WORKLOAD],
) -> None:
    """Measure workloads over numbers of clients.

    sitebench web sweep webbench1-static

    sitebench web sweep webbench1-static webbench1-light webbench1-heavy --target apache

    sitebench web sweep webstone2-standard --clients 10,100,600 --repeats 6

    sitebench web sweep own.toml --target https://127.0.0.1:8443 --tls-ca ca.pem

    An interrupted sweep resumes where it stopped if repeated with the same --out.
    """
    _sweep(options, names, "web-sweep")


def _sweep(
    options: SweepOptions, workloads: Sequence[str], kind: str, first: Tables | None = None
) -> None:
    operations = []
    for each in dict.fromkeys(workloads):
        options, operation = _named(options, each)
        operations.append(operation)
    _measure(operations, options, options.clients, run_file(kind), first)


def _named(options: Any, workload: str) -> tuple[Any, str]:
    """Return the options and the operation of a workload: a name, or a TOML file."""
    if not workload.endswith(".toml"):
        return options, commands.parse_operation(SUITE, workload)
    if options.workload not in (None, workload):
        raise BadInput("one command takes one workload file", "measure them one after another")
    return replace(options, workload=workload), "workload"


def _measure(
    operations: Sequence[str],
    options: RunOptions | SweepOptions,
    clients: Sequence[int],
    default_out: str | None,
    first: Tables | None = None,
) -> None:
    from sitebench.measure.command import measure, one_table
    from sitebench.options.convert import narrowed
    from web_bench import points
    from web_bench.paper.tables import tables
    from web_bench.targets.opening import check

    one = narrowed(WebOptions, options)
    # What is wrong with a workload, or with a target for it, is said before a run file is made.
    swept = {}
    for operation in operations:
        workload = points.workload_of(one, operation)
        check(one, [workload])
        swept[operation] = clients or workload.clients or (one.users,)
    measure(
        options,
        users=max(max(each) for each in swept.values()),
        stages=lambda seeding: [
            points.stage(one, operation, seeding, each) for operation, each in swept.items()
        ],
        facts=lambda: points.manifest(one, [0]),
        first=first or one_table,
        tables=tables,
        default_out=default_out,
    )


@app.command(rich_help_panel="Measure")
@command_options(SweepOptions)
def spice(options: SweepOptions) -> None:
    """Measure every kind of program that a server has, and what each keeps of the static rate.

    sitebench web spice

    sitebench web spice --target apache --clients 1,4,16,60

    sitebench web spice --target http://127.0.0.1:8000 --programs inprocess=/page

    Kinds that the target does not have are left out.
    """
    from sitebench.measure.command import say
    from sitebench.options.convert import narrowed
    from sitebench.tables.screen import PointsTable
    from web_bench.paper.tables import by_workload, spice_tables
    from web_bench.points import workload_of
    from web_bench.targets.opening import check

    found = []
    for name in _NAMES:
        if name.startswith("spice-"):
            try:
                one = narrowed(WebOptions, options)
                check(one, [workload_of(one, name)])
            except BadInput as error:
                say(f"left out: {error.message}")
            else:
                found.append(name)
    _sweep(
        options,
        found,
        "web-spice",
        lambda results: [PointsTable(results), "", *spice_tables(by_workload(results))],
    )


@app.command(rich_help_panel="Measure")
@command_options(RunOptions)
def vary(
    options: RunOptions,
    asked: Annotated[list[str], commands.vary_option()],
    name: Annotated[str, _WORKLOAD] = "silicon-surf",
) -> None:
    """Vary one thing after another and hold the rest, as in the papers' tuning.

    sitebench web vary silicon-surf --target nginx --vary processors=1,2 --vary workers=1,2,4

    sitebench web vary --vary network=10mbit,100mbit,none --vary memory=64m,256m --repeats 6

    sitebench web vary webbench1-static --target nginx --vary config:sendfile=on,off

    processors, memory, network and disk limit a server that is started here; what this machine does
    not allow is left out, with the reason. An interrupted run resumes with the same --out.
    """
    from seeders.pools import cache_folder
    from sitebench.options.convert import narrowed
    from sitebench.suite_base.vary import VaryJob
    from sitebench.suite_base.vary import vary as measure_levels
    from web_bench import points
    from web_bench.paper.printed import PAPERS
    from web_bench.targets.opening import check

    options, operation = _named(options, name)
    base = narrowed(WebOptions, options)
    check(base, [points.workload_of(base, operation)])
    said = [each.text for paper in PAPERS.values() for each in paper.statements]
    job = VaryJob(
        stage=lambda one, seeding: points.stage(one, operation, seeding),
        facts=lambda: points.manifest(base, [0]),
        data=cache_folder() if base.docroot is None else Path(base.docroot),
        default_out="web-vary",
        aliases={"workers": "target_threads"},
        notes=lambda factor: [
            f"1996-2000: {text}." for text in said if factor == "processors" and _SECOND in text
        ],
    )
    measure_levels(options, base, asked, job)


@app.command(rich_help_panel="Measure")
@command_options(PeakOptions)
def peak(
    options: PeakOptions,
    name: Annotated[str, _WORKLOAD] = "webbench1-static",
) -> None:
    """Find the highest rate of a web server.

    With each number of --clients in turn, as in the papers:

    sitebench web peak silicon-surf --clients 12,24,48,96

    Or by a search for the highest rate that meets an objective, which is then confirmed:

    sitebench web peak webbench1-static --objective 'p99<5ms,failures<0.1%'

    An interrupted search resumes where it stopped if repeated with the same --out.
    """
    from sitebench.options.convert import narrowed
    from web_bench import points
    from web_bench.targets.opening import check

    options, operation = _named(options, name)
    one = narrowed(WebOptions, options)
    check(one, [points.workload_of(one, operation)])
    commands.find_peak(
        SUITE,
        options,
        one,
        operation,
        points,
        stage=lambda seeding: points.stage(one, operation, seeding),
    )


@app.command(rich_help_panel="Measure")
@command_options(UiOptions)
def ui(options: UiOptions) -> None:
    """Test a web server from Locust's web UI; the options are the first values of its form.

    sitebench web ui

    sitebench web ui --target http://127.0.0.1:8080 --users 64 --out tests.sitebench
    """
    from sitebench.locust.web_ui.starting import become_locust

    become_locust(SUITE.locustfile_path(), options, LocustOptions)


@app.command(rich_help_panel="Web servers")
@command_options(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve a workload's files, or your own folder, until Ctrl-C.

    sitebench web serve

    sitebench web serve --docroot /srv/www --workload webstone2-standard --port 8081
    """
    from web_bench.targets.web_server import serve as serve_web

    serve_web(options, Console())


@app.command(rich_help_panel="Web servers")
@command_options(FileSetOptions)
def seed(
    options: FileSetOptions,
    to: Annotated[Path, typer.Option("--to", help="Folder to write.", metavar="FOLDER")],
    workload: Annotated[
        str, typer.Option("--set", help="Workload, or TOML file, with the files.", metavar="NAME")
    ] = "webbench1-static",
) -> None:
    """Write the files of a workload into the folder that a web server serves.

    sitebench web seed --set large-filemix --files-per-class 200 --to docroot/

    The same command continues what was interrupted. Beside the files there is a manifest with the
    size and the SHA-256 of each.
    """
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar
    from web_bench.seed import seed as write

    chosen = _with_files(workload, options)
    assert chosen.files is not None
    with bar(f"writing {to}", chosen.files.bytes) as move:
        manifest = write(chosen.files.spec(options.seed), to, lambda done, _: move(done))
    say(f"{chosen.files.count:,} files in {to}, {chosen.files.bytes:,} bytes; {manifest}")


@app.command(rich_help_panel="Web servers")
@command_options(VerifyOptions)
def verify(
    options: VerifyOptions,
    workload: Annotated[
        str, typer.Option("--set", help="Workload, or TOML file, with the files.", metavar="NAME")
    ] = "webbench1-static",
) -> None:
    """Ask a web server for every file of a workload once, and compare length and content.

    sitebench web verify --target http://127.0.0.1:8080 --set large-filemix --files-per-class 200
    """
    from sitebench.errors import MeasurementFailed
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar
    from sitebench.targets.tls import Trust
    from web_bench.verify import verify as ask

    chosen = _with_files(workload, options)
    assert chosen.files is not None
    with bar(f"comparing {options.target}", chosen.files.bytes) as move:
        found = ask(
            chosen.files.spec(options.seed),
            options.target,
            lambda done, _: move(done),
            connections=options.connections,
            trust=Trust.of(options),
        )
    if found.different:
        for each in found.differences:
            say(str(each))
        raise MeasurementFailed(
            f"{found.different:,} of {found.files:,} files at {options.target} are not those of "
            f"{workload}",
            f"write them with `sitebench web seed --set {workload} --to DOCROOT`, with the same "
            "--seed and --files-per-class",
        )
    say(f"{found.files:,} files at {options.target} are right, {found.bytes:,} bytes")


def _with_files(workload: str, options: FileSetOptions) -> Workload:
    from web_bench.docroot import with_options
    from web_bench.workload import find

    chosen = with_options(find(workload), options)
    if chosen.files is None:
        raise BadInput(f"{workload} asks for programs alone, and has no files", "name another")
    return chosen


@app.command(rich_help_panel="Web servers")
def workloads(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Built-in workload, or a TOML file (default: all built-in ones).", metavar="NAME"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """List the workloads, or the classes of one: their shares of requests and of bytes.

    sitebench web workloads

    sitebench web workloads large-filemix

    sitebench web workloads own.toml --json
    """
    from rich.console import Group

    from sitebench.tables.console import results_console
    from web_bench.workload import built_in, find

    if name is None:
        found = built_in().values()
        papers = dict.fromkeys(each.paper for each in found)
        made = [
            _of_paper(paper, [each for each in found if each.paper == paper]) for paper in papers
        ]
        document: Any = [_document(each) for each in found]
    else:
        workload = find(name)
        made, document = [Group(*_of_workload(workload))], _document(workload)
    if as_json:
        print(json.dumps(document, indent=2))
        return
    console = results_console()
    for each in made:
        console.print(each)


def _of_paper(paper: str, found: list[Workload]) -> RenderableType:
    from sitebench.tables.tables import new_table, titled

    table = new_table("Workload", "Title", "Mean bytes", "Files", left=2)
    for each in found:
        files = "-" if each.files is None else f"{each.files.count:,}"
        table.add_row(each.name, each.title, _mean(each), files)
    return titled(paper, table)


def _of_workload(workload: Workload) -> Iterator[RenderableType]:
    from rich.text import Text

    from sitebench.tables.tables import titled

    yield titled(f"{workload.title} ({workload.name})", _classes(workload))
    lines = {"Paper": workload.paper, "Note": workload.note}
    if workload.files is not None:
        files = workload.files
        lines["Files"] = f"{files.count:,}, {files.bytes:,} bytes in all (set {files.name})"
    lines["Mean"] = f"{_mean(workload)} bytes per request"
    lines["Deck"] = f"{sum(workload.deck):,} requests are exactly the mix"
    lines["Clients"] = ", ".join(map(str, workload.clients))
    lines["HTTP"] = workload.http
    for title, line in lines.items():
        if line:
            yield Text(f"{title}: {line}")


def _classes(workload: Workload) -> Table:
    from rich.text import Text

    from sitebench.tables.tables import new_table

    table = new_table("Class", "What is requested", "Requests", "Bytes", "Mean bytes", left=2)
    no_bytes = (None,) * len(workload.classes)
    rows = zip(
        workload.classes, workload.request_shares, workload.byte_shares or no_bytes, strict=True
    )
    for each, requests, share in rows:
        mean = workload.mean_bytes_of(each)
        table.add_row(
            each.name,
            Text(_what(each, workload)),
            f"{100 * requests:.5g}%",
            "-" if share is None else f"{100 * share:.1f}%",
            "-" if mean is None else f"{mean:,.0f}",
        )
    return table


def _what(each: RequestClass, workload: Workload) -> str:
    from web_bench.workload import DYNAMIC

    if each.dynamic:
        what = DYNAMIC[each.dynamic]
    elif each.files is not None and workload.files is not None:
        sizes = ", ".join(f"{size:,}" for size in each.files.sizes)
        if each.files.spread is not None:
            sizes = "{:,} to {:,}".format(*each.files.spread)
        count = workload.files.count_of(each.files)
        what = f"{count:,} {'file' if count == 1 else 'files'} of {sizes}"
    else:
        what = ", ".join(each.paths)
    return f"{what}, over TLS" if each.tls else what


def _mean(workload: Workload) -> str:
    if workload.mean_bytes is None:
        return "-"
    about = any(each.size_about is not None for each in workload.classes)
    return f"{'about ' if about else ''}{workload.mean_bytes:,.0f}"


def _document(workload: Workload) -> dict[str, Any]:
    files = workload.files
    shares = workload.byte_shares or (None,) * len(workload.classes)
    return {
        "name": workload.name,
        "title": workload.title,
        "paper": workload.paper,
        "note": workload.note,
        "clients": workload.clients,
        "http": workload.http,
        "mean_bytes": workload.mean_bytes,
        "deck": sum(workload.deck),
        "files": files and {"name": files.name, "count": files.count, "bytes": files.bytes},
        "classes": [
            {
                "name": each.name,
                "weight": each.weight,
                "requests": requests,
                "bytes": share,
                "mean_bytes": workload.mean_bytes_of(each),
                "what": _what(each, workload),
                "dynamic": each.dynamic or None,
                "paths": each.paths,
                "tls": each.tls,
            }
            for each, requests, share in zip(
                workload.classes, workload.request_shares, shares, strict=True
            )
        ],
    }
