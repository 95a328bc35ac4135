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


def write(workload: str, options: FileSetOptions, to: Path) -> None:
    """Write the files into a folder."""
    chosen = _with_files(workload, options)
    assert chosen.file_set is not None
    with bar(f"writing {to}", chosen.file_set.bytes) as move:
        manifest = seed(chosen.file_set.spec(options.seed), to, lambda done, _: move(done))
    many = plural(chosen.file_set.count, "file")
    say(f"{many} in {to}, {chosen.file_set.bytes:,} bytes; {manifest}")


def compare(workload: str, options: VerifyOptions) -> None:
    """Ask a server for each of them, and raise where one is not what it should be."""
    chosen = _with_files(workload, options)
    assert chosen.file_set is not None
    with bar(f"comparing {options.target}", chosen.file_set.bytes) as move:
        found = verify(
            chosen.file_set.spec(options.seed),
            options.target,
            lambda done, _: move(done),
            trust=Trust.of(options),
        )
    if found.different:
        for each in found.differences:
            say(str(each))
        raise MeasurementFailed(
            f"{found.different:,} of {plural(found.files, 'file')} at {options.target} are not "
            f"those of {workload}",
            f"write them with `sitebench web seed --set {workload} --to DOCROOT`, with the same "
            "--seed and --files-per-class",
        )
    say(f"{found.files:,} files at {options.target} are right, {found.bytes:,} bytes")


def _with_files(name: str, options: FileSetOptions) -> Workload:
    chosen = with_options(find(name), options)
    if chosen.file_set is None:
        raise BadInput(f"{name} asks for programs alone, and has no files", "name another")
    return chosen
