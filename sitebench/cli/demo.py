from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sitebench.errors import BadInput
from sitebench.options import option
from sitebench.options.command import argument, command
from sitebench.suite import Suite, suites
from sitebench.suite import suite as find_suite
from sitebench.system.files import make_folder
from sitebench.units import format_duration, plural

_MEASURE_S = 5.0

_POINT_S = 6.0
"""Time of a point besides its window, for the start of processes, warm-up and second tries."""


@dataclass(frozen=True)
class _DemoOptions:
    measure: float | None = option.duration(
        None, "Length of each measured window (default: 5s).", panel="Options"
    )
    out: str = option.text(
        ".", "Folder for the run files and the report.", "FOLDER", panel="Options"
    )


_NAMES = [suite.name for suite in suites()]


@command(
    _DemoOptions,
    argument(
        "SUITE...",
        f"Suites to measure (default: all): some of {', '.join(_NAMES)}.",
        words=_NAMES,
        required=False,
        several=True,
    ),
    panel="Measure",
)
def demo(options: _DemoOptions, suite: Sequence[str]) -> None:
    """Measure the embedded servers on this machine, and make a report, in some minutes.

    sitebench demo

    sitebench demo ps --measure 2s --out /tmp/demo

    After an interruption the same command continues.
    """
    selected, out = [find_suite(name) for name in suite] or suites(), Path(options.out)
    make_folder(out)
    sweeps = [_Sweep(member, options.measure, out) for member in selected]
    try:
        _run(click.get_current_context().find_root().command, sweeps, out / "demo.html")
    except KeyboardInterrupt:
        _say_interrupted(sweeps)
        raise


class _Sweep:
    def __init__(self, suite: Suite, measure_s: float | None, out: Path) -> None:
        self.suite = suite
        self.file = out / f"demo-{suite.name}.sitebench"
        window = _MEASURE_S if measure_s is None else measure_s
        self.argv = [suite.name, *suite.demo.command, "--measure", format_duration(window)]
        self._point_s = window + _POINT_S

    def left_s(self) -> float:
        n_done, planned = self.progress()
        return (planned - n_done) * self._point_s

    def progress(self) -> tuple[int, int]:
        """Return the numbers of measured and planned points; refuse the file of another command."""
        from sitebench.cli.resume import again
        from sitebench.runs.runfile import RunFile

        if not self.file.exists():
            return 0, self.suite.demo.points
        with RunFile(self.file) as run:
            command: Any = run.manifest().get("command")
            # Only a point's second try has a set number of threads. Second tries are not counted.
            states = [point.status for point in run.points() if point.spec.threads is None]
        if command and again(command, self.file) != again(["sitebench", *self.argv], self.file):
            raise BadInput(
                f"{self.file} was made by another command: {shlex.join(command)}",
                "remove it, or name another folder with --out",
            )
        return states.count("done"), max(len(states), self.suite.demo.points)


def _run(root: Any, sweeps: Sequence[_Sweep], page: Path) -> None:
    from sitebench.measure.command import part, say
    from sitebench.runs.manifest import cpu

    progress, files = [sweep.progress() for sweep in sweeps], [str(sweep.file) for sweep in sweeps]
    machine, steps = cpu(), len(sweeps) + 1
    say(
        f"This machine: {plural(machine['usable'], 'core')} ({machine['model']}), shared by the "
        "servers and the load generator: enough to try sitebench, not for figures to publish."
    )
    if all(n_done == planned for n_done, planned in progress):
        say(f"All points were measured before; to measure again, remove {' '.join(files)}")
    else:
        work = "The rest of the demo" if any(n_done for n_done, _ in progress) else "The demo"
        say(f"{work} takes {_span(sum(sweep.left_s() for sweep in sweeps))}; Ctrl-C stops it.")
    for step, sweep in enumerate(sweeps, 1):
        title, points = sweep.suite.title, sweep.suite.demo.points
        argv = [*sweep.argv, "--out", str(sweep.file)]
        left_s = sweep.left_s()
        lasts = _span(left_s) if left_s else "done"
        say(f"\n[{step}/{steps}] {title}: {plural(points, 'point')}, {lasts}")
        say(f"$ {shlex.join(['sitebench', *argv])}")
        with part(argv):
            _command(root, argv)
    say(f"\n[{steps}/{steps}] Report")
    _command(root, ["report", *files, "--out", str(page)])
    say("Next, try:")
    for sweep in sweeps[:2]:
        say(f"  sitebench {sweep.suite.demo.next.format(run=shlex.quote(str(sweep.file)))}")


def _command(root: Any, argv: Sequence[str]) -> None:
    with root.make_context("sitebench", list(argv)) as context:
        root.invoke(context)


def _span(seconds: float) -> str:
    """Return the expected time as a range: windows can grow, and points can get second tries."""
    if seconds < 100:
        return f"{seconds:.0f} to {2 * seconds:.0f} s"
    return f"{seconds / 60:.0f} to {2 * seconds / 60:.0f} min"


def _say_interrupted(sweeps: Sequence[_Sweep]) -> None:
    from sitebench.measure.command import say

    progress = {str(sweep.file): sweep.progress() for sweep in sweeps}
    n_done, planned = map(sum, zip(*progress.values(), strict=True))
    files = [file for file, (measured, _) in progress.items() if measured]
    look = f"; see them with: {shlex.join(['sitebench', 'report', *files])}" if files else ""
    again = shlex.join(["sitebench", *sys.argv[1:]])
    say(f"interrupted: {n_done} of {planned} points are measured{look}; continue with: {again}")
