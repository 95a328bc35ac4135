"""`run` and `sweep` of every suite: measure, show the results, and say how to resume."""

from __future__ import annotations

import contextlib
import datetime as dt
import random
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rich.console import Console

from sitebench.errors import BadInput, MeasurementFailed, SitebenchError, TargetDied
from sitebench.measure.junit import junit
from sitebench.measure.objective import Objective
from sitebench.measure.options import LoadOptions, MeasureOptions, RepeatOptions, check_pace
from sitebench.measure.outcomes import (
    advised_results,
    judge_points,
    missed_objectives,
    raise_if_missed,
)
from sitebench.measure.progress import JsonLines, LiveProgress, Shown, counting
from sitebench.measure.sweep import Stage, repeat_stages
from sitebench.measure.sweep import sweep as run_sweep
from sitebench.options.option import group_of
from sitebench.options.spelling import gives
from sitebench.runs.manifest import COMPARED, ONCE, collect, resume_facts
from sitebench.runs.point import MOST_FAILURES, PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system.files import write
from sitebench.system.limits import allow_descriptors
from sitebench.system.scratch import scratch
from sitebench.tables.advice import WhatToDo
from sitebench.tables.screen import PointsTable
from sitebench.tables.spans import terminal_spans
from sitebench.tables.tables import attempts, footnotes
from sitebench.tables.terminal import Printable, show
from sitebench.units import plural
from sitebench.verdict.verdict import failure_text
from sitebench.verdict.warning import WarningKind

Seeding = Callable[[int, int], object]
"""Progress of seeding: called with the number of people seeded, and the total."""

Tables = Callable[[Sequence[PointResult]], Sequence[Printable]]


_part: ContextVar[Sequence[str] | None] = ContextVar("_part", default=None)


@contextlib.contextmanager
def part(argv: Sequence[str]) -> Iterator[None]:
    """Measure as a part of another command, whose `argv` the run files record for `resume`.

    Within the block the other command prints the messages about resuming and Ctrl-C.
    """
    token = _part.set(argv)
    try:
        yield
    finally:
        _part.reset(token)


@contextlib.contextmanager
def recording(
    options: RepeatOptions, reporter: Shown, users: int, default_out: str | None
) -> Iterator[RunStore]:
    """Open the run file, which is temporary if neither `--out` nor a default names it.

    After Ctrl-C, print the command that resumes.
    """
    allow_descriptors(users)
    if (load := group_of(options, LoadOptions)) is not None:
        check_pace(load)
        _check_monitor(load.monitor)
    with contextlib.ExitStack() as stack:
        out = options.out or default_out
        is_kept = out is not None
        if options.resume and options.out is None:
            raise BadInput("--resume needs a run file", "name the file with --out")
        if out is None:
            out = str(stack.enter_context(scratch()) / "run")
        store = stack.enter_context(_open_store(out, create=not options.resume))
        begun_s = store.last_begun()
        stack.enter_context(reporter)
        try:
            yield store
            if begun_s is not None and begun_s == store.last_begun() and _part.get() is None:
                begun = dt.datetime.fromtimestamp(begun_s, dt.UTC).astimezone()
                say(
                    f"{out}: all points were measured before, the last at "
                    f"{begun:%Y-%m-%d %H:%M:%S}; to measure again, name another --out"
                )
        except KeyboardInterrupt:
            reporter.close()
            if is_kept and _part.get() is None:
                argv = sys.argv[1:]
                if not gives(argv, "out"):
                    argv = [*argv, "--out", out]
                if reason := store.manifest().get(ONCE):
                    say(
                        f"interrupted; the measured points are in {out}, and no further point was "
                        f"written: {reason}"
                    )
                else:
                    say(f"interrupted; resume with: {shlex.join(['sitebench', *argv])}")
            elif _part.get() is None:
                say("interrupted; with --out FILE the measured points are kept")
            raise


def _check_monitor(url: str | None) -> None:
    if url is None:
        return
    from http.client import HTTPException

    from sitebench.monitor.exporter import Exporter

    try:
        with contextlib.closing(Exporter(url)) as exporter:
            exporter.read()
    except (OSError, HTTPException, ValueError) as error:
        raise BadInput(
            f"--monitor: {url} cannot be read: {error}",
            "start node_exporter on the target's machine, or leave --monitor out",
        ) from error


@contextlib.contextmanager
def _open_store(out: str, *, create: bool) -> Iterator[RunStore]:
    """Open a run file; a new file is removed if no point could begin.

    After Ctrl-C a new file stays, because the printed command resumes it.
    """
    new, unused = not Path(out).exists(), False
    try:
        with RunStore(out, create=create) as store:
            try:
                yield store
            except SitebenchError:
                unused = new and store.last_begun() is None
                raise
    finally:
        if unused:
            Path(out).unlink(missing_ok=True)


def one_table(results: Sequence[PointResult]) -> list[Printable]:
    return [PointsTable(results)]


def measure(
    options: MeasureOptions,
    *,
    users: int,
    stages: Callable[[Seeding], Sequence[Stage]],
    facts: Callable[[], Mapping[str, Any]],
    tables: Tables,
    first: Tables = one_table,
    order: Callable[[PointResult], Any] = lambda result: 0,
    default_out: str | None = None,
    afterwards: Callable[[], None] = lambda: None,
    grows: bool = False,
    lot: random.Random | None = None,
) -> None:
    """Measure the missing points, print the results in `order`, and judge them.

    Each repeat is a separate point. If `grows`, windows can be lengthened. The tables of `first`
    are always printed, the papers' `tables` on request. `lot` draws the order of stages in a
    repeat.
    """
    reporter = (
        JsonLines(options.objective)
        if options.json
        else LiveProgress(counting(options.repeats), quiet=options.quiet, grows=grows)
    )
    with recording(options, reporter, users, default_out) as store:
        planned = repeat_stages(stages(reporter.seeding), options.repeats, lot)
        run_facts = {**facts(), "objective": None}
        if options.objective is not None:
            run_facts |= options.objective.to_manifest()
        now = collect(_part.get() or sys.argv[1:], run_facts)
        store.set_manifest(resume_facts(store.manifest(), now))
        specs = [test.spec for stage in planned for test in stage.tests]
        if COMPARED in store.manifest() and any(spec.stages is not None for spec in specs):
            raise BadInput(
                "the scenario file has stages, without a constant rate to compare",
                "give the command a --rate, which replaces the stages",
            )
        with contextlib.ExitStack() as last:
            last.callback(afterwards)
            if options.junit is not None:
                keep = (Path(options.junit), specs, store, options.objective)
                # The file is also written at the start, so that an error appears at once.
                _write_junit(*keep)
                last.callback(_write_junit, *keep)
            results = run_sweep(planned, store, reporter)
        judged = judge_points(specs, store, options.objective)
        twice = attempts(store.results())
    if not options.json:
        ordered = sorted(results, key=order)
        path = store.path if options.out or default_out else None
        ends = () if _part.get() else (_hint(path, paper_tables=options.paper_tables),)
        answer = [*first(ordered), *terminal_spans(ordered)]
        advice = WhatToDo(advised_results(ordered, options.objective))
        show([*answer, *([] if options.quiet else [*twice, advice, *ends])])
        if options.paper_tables:
            for paper_table in tables(ordered):
                show(["", paper_table])
            show(["", *footnotes(ordered)])
    _raise_if_died(results)
    if options.objective is not None:
        for line in missed_objectives(judged):
            say(line)
        raise_if_missed(judged, options.objective)
    if not options.allow_failures:
        _raise_if_failing(results)


def _raise_if_died(results: Sequence[PointResult]) -> None:
    """Raise, after results were shown and kept, if a target died in a test of stages."""
    for result in results:
        for warning in result.verdict.warnings:
            if warning.kind == WarningKind.TARGET_DIED:
                raise TargetDied(f"{result.spec.title}: {warning.message}", warning.remedy)


def _raise_if_failing(results: Sequence[PointResult]) -> None:
    failing = [result for result in results if result.fails_too_often]
    if failing:
        raise MeasurementFailed(
            f"more than {MOST_FAILURES:.0%} of the operations failed at {len(failing)} of "
            f"{plural(len(results), 'point')}; the first: {failing[0].spec.title}: "
            f"{failure_text(failing[0])}",
            "find out why they failed; with --allow-failures this is not an error",
        )


def _write_junit(
    path: Path, specs: Sequence[PointSpec], store: RunStore, objective: Objective | None
) -> None:
    write(path, junit(judge_points(specs, store, objective), objective))


def _hint(run: Path | None, *, paper_tables: bool) -> str:
    page = "add --out FILE for a report"
    if run is not None:
        page = shlex.join(["sitebench", "report", str(run)])
    return f"More: {page}" + "; --paper-tables adds the papers' tables" * (not paper_tables)


def say(line: str) -> None:
    """Print a line to standard error: standard output is for results."""
    Console(stderr=True).print(line, highlight=False, markup=False, soft_wrap=True)
