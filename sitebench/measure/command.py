"""What `run` and `sweep` of every suite do: measure, show, and say how to resume."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from sitebench.errors import BadInput, SitebenchError
from sitebench.measure.junit import junit
from sitebench.measure.objective import Objective
from sitebench.measure.options import MeasureOptions, RepeatOptions
from sitebench.measure.outcomes import judge_points, missed_objectives, raise_if_missed
from sitebench.measure.progress import JsonLines, Live, Shown, counting
from sitebench.measure.sweep import Stage, repeated
from sitebench.measure.sweep import sweep as run_sweep
from sitebench.runs.manifest import collect, continued
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system.files import write
from sitebench.system.limits import allow_descriptors
from sitebench.system.scratch import scratch
from sitebench.tables.bottlenecks import warnings
from sitebench.tables.tables import footnotes

Seeding = Callable[[int, int], object]
"""Progress of seeding: called with the number of people seeded, and the total."""


@dataclass(frozen=True)
class Report:
    """What is printed at the end."""

    tables: Sequence[RenderableType]
    notes: Sequence[str] = ()


@contextlib.contextmanager
def recording(
    options: RepeatOptions, reporter: Shown, users: int, default_out: str | None
) -> Iterator[RunStore]:
    """Open the run file; without `--out` and a default it is deleted afterwards.

    On Ctrl-C it prints the command that resumes.
    """
    allow_descriptors(users)
    with contextlib.ExitStack() as stack:
        out = options.out or default_out
        kept = out is not None
        if options.resume and options.out is None:
            raise BadInput("--resume needs a run file", "name the file with --out")
        if out is None:
            out = str(stack.enter_context(scratch()) / "run")
        store = stack.enter_context(_opened(out, create=not options.resume))
        stack.enter_context(reporter)
        try:
            yield store
        except KeyboardInterrupt:
            if kept:
                argv = sys.argv[1:]
                if not any(part == "--out" or part.startswith("--out=") for part in argv):
                    argv = [*argv, "--out", out]
                say(f"interrupted; resume with: {shlex.join(['sitebench', *argv])}")
            raise


@contextlib.contextmanager
def _opened(out: str, *, create: bool) -> Iterator[RunStore]:
    """Open a run file; a new one is removed if no point could begin.

    After Ctrl-C it stays, because the printed command resumes it.
    """
    new, unused = not Path(out).exists(), False
    try:
        with RunStore(out, create=create) as store:
            try:
                yield store
            except SitebenchError:
                unused = new and not store.begun()
                raise
    finally:
        if unused:
            Path(out).unlink(missing_ok=True)


def measure(
    options: MeasureOptions,
    *,
    users: int,
    stages: Callable[[Seeding], Sequence[Stage]],
    facts: Callable[[], Mapping[str, Any]],
    tables: Callable[[Sequence[PointResult]], Sequence[RenderableType]],
    order: Callable[[PointResult], Any] = lambda result: 0,
    default_out: str | None = None,
    afterwards: Callable[[], None] = lambda: None,
) -> None:
    """Measure the missing points, print the suite's tables of them in `order`, and judge each.

    Every repeat is a point of its own.
    """
    reporter = JsonLines(options.objective) if options.json else Live(counting(options.repeats))
    with recording(options, reporter, users, default_out) as store:
        planned = repeated(stages(reporter.seeding), options.repeats)
        store.set_manifest(continued(store.manifest(), collect(sys.argv[1:], facts())))
        specs = [spec for stage in planned for spec in stage.points]
        with contextlib.ExitStack() as last:
            last.callback(afterwards)
            if options.junit is not None:
                keep = (Path(options.junit), specs, store, options.objective)
                # Also before measuring: a file name that cannot be written is an error at once.
                _write_junit(*keep)
                last.callback(_write_junit, *keep)
            results = run_sweep(planned, store, reporter)
        judged = judge_points(specs, store, options.objective)
    if not options.json:
        found = sorted(results, key=order)
        show(Report(tables(found), [*footnotes(found), *warnings(found)]))
        if default_out is not None:
            say(f"run file: {store.path}")
    if options.objective is not None:
        for line in missed_objectives(judged):
            say(line)
        raise_if_missed(judged, options.objective)


def _write_junit(
    path: Path, specs: Sequence[PointSpec], store: RunStore, objective: Objective | None
) -> None:
    write(path, junit(judge_points(specs, store, objective)))


def show(report: Report) -> None:
    console = Console()
    for table in report.tables:
        console.print(table)
        console.print()
    for note in report.notes:
        console.print(note, highlight=False, markup=False)


def say(line: str) -> None:
    """Print a line to standard error: standard output is for results."""
    Console(stderr=True).print(line, highlight=False, markup=False, soft_wrap=True)
