"""What `sitebench web seed` and `verify` do with the files of a workload."""

from __future__ import annotations

from pathlib import Path

from sitebench.errors import BadInput, MeasurementFailed
from sitebench.measure.command import say
from sitebench.measure.progress import bar
from sitebench.targets.tls import Trust
from sitebench.units import plural
from web_bench.docroot import with_options
from web_bench.options import FileSetOptions, VerifyOptions
from web_bench.seed import seed
from web_bench.verify import verify
from web_bench.workload import Workload, find


def write(workload: str, options: FileSetOptions, folder: Path) -> None:
    loaded = _with_files(workload, options)
    assert loaded.file_set is not None
    with bar(f"writing {folder}", loaded.file_set.bytes) as move:
        manifest = seed(
            loaded.file_set.spec(options.seed), folder, lambda written, _: move(written)
        )
    many = plural(loaded.file_set.count, "file")
    say(f"{many} in {folder}, {loaded.file_set.bytes:,} bytes; {manifest}")


def compare(workload: str, options: VerifyOptions) -> None:
    """Ask a server for each of them, and raise where one is not what it should be."""
    loaded = _with_files(workload, options)
    assert loaded.file_set is not None
    with bar(f"comparing {options.target}", loaded.file_set.bytes) as move:
        report = verify(
            loaded.file_set.spec(options.seed),
            options.target,
            lambda compared, _: move(compared),
            trust=Trust.from_options(options),
        )
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


def _with_files(name: str, options: FileSetOptions) -> Workload:
    workload = with_options(find(name), options)
    if workload.file_set is None:
        raise BadInput(f"{name} asks for programs alone, and has no files", "name another")
    return workload
