"""`sitebench web seed`, `verify` and `workloads`."""

from __future__ import annotations

from pathlib import Path

from sitebench.options.command import argument, command, option
from web_bench.options import FileSetOptions, ListingOptions, VerifyOptions
from web_bench.suite import SUITE

_PANEL = "Web servers"

_SET = option(
    "workload",
    "Workload, or scenario file, with the files.",
    "NAME",
    names=("--set",),
    default="webbench1-static",
    shown="webbench1-static",
)


@command(
    FileSetOptions,
    option("to", "Folder to write.", "FOLDER", parse=Path, required=True),
    _SET,
    panel=_PANEL,
)
def seed(options: FileSetOptions, to: Path, workload: str) -> None:
    """Write the files of a workload into the folder that a web server serves.

    sitebench web seed --set large-filemix --files-per-class 200 --to docroot/

    The same command continues what was interrupted. Beside the files there is a manifest with the
    size and the SHA-256 of each.
    """
    from web_bench.files import write

    write(workload, options, to)


@command(VerifyOptions, _SET, panel=_PANEL)
def verify(options: VerifyOptions, workload: str) -> None:
    """Ask a web server for every file of a workload once, and compare length and content.

    sitebench web verify --target http://127.0.0.1:8080 --set large-filemix --files-per-class 200
    """
    from web_bench.files import compare

    compare(workload, options)


@command(
    ListingOptions,
    argument(
        "NAME",
        "Built-in workload, or a scenario file (default: all built-in ones).",
        words=tuple(SUITE.operations),
        required=False,
    ),
    panel=_PANEL,
)
def workloads(options: ListingOptions, name: str | None) -> None:
    """List the workloads, or the classes of one: their shares of requests and of bytes.

    sitebench web workloads

    sitebench web workloads large-filemix

    sitebench web workloads own.toml --json
    """
    from web_bench.listing import show

    show(name, as_json=options.json)
