"""`sitebench web seed` and `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitebench.errors import BadInput, MeasurementFailed
from sitebench.options.command import command, option
from web_bench.options import FileSetOptions, VerifyOptions

if TYPE_CHECKING:
    from web_bench.workload import FileSet

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

    After an interruption the same command continues. A manifest has the size and the SHA-256 of
    each file.
    """
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar
    from sitebench.units import plural
    from web_bench.workload import seed as write_files

    files = _file_set(workload, options)
    with bar(f"writing {to}", files.bytes) as move:
        manifest = write_files(files.spec(options.seed), to, lambda written, _: move(written))
    say(f"{plural(files.count, 'file')} in {to}, {files.bytes:,} bytes; {manifest}")


@command(VerifyOptions, _SET, panel=_PANEL)
def verify(options: VerifyOptions, workload: str) -> None:
    """Request every file of a workload once from a web server, and compare length and content.

    sitebench web verify --target http://127.0.0.1:8080 --set large-filemix --files-per-class 200
    """
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar
    from sitebench.targets.tls import Trust
    from sitebench.units import plural
    from web_bench.verify import verify as compare

    files, trust = _file_set(workload, options), Trust.from_options(options)
    with bar(f"comparing {options.target}", files.bytes) as move:
        spec = files.spec(options.seed)
        report = compare(spec, options.target, lambda compared, _: move(compared), trust=trust)
    if report.different:
        for difference in report.differences:
            say(str(difference))
        raise MeasurementFailed(
            f"{report.different:,} of {plural(report.files, 'file')} at {options.target} are not "
            f"those of {workload}",
            f"write them with `sitebench web seed --set {workload} --to DOCROOT`, with the same "
            "--seed and --files-per-class",
        )
    say(f"{report.files:,} files at {options.target} are right, {report.bytes:,} bytes")


def _file_set(name: str, options: FileSetOptions) -> FileSet:
    from web_bench.docroot import with_options
    from web_bench.workload import find

    files = with_options(find(name), options).file_set
    if files is None:
        raise BadInput(f"{name} asks for programs alone, and has no files", "name another")
    return files
