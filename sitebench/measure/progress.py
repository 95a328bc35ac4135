"""Progress of a sweep, for people or as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from sitebench.counts.source import SEQUENCE
from sitebench.measure.objective import Objective
from sitebench.measure.sweep import Reporter
from sitebench.monitor.others import other_programs
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system.closing import Closing
from sitebench.tables.screen import LONGER
from sitebench.units import format_duration, format_rate, format_size, plural
from sitebench.verdict.verdict import Quoted


class JsonLines(Reporter, Closing):
    def __init__(self, objective: Objective | None = None) -> None:
        self._objective = objective

    def seeding(self, done: int, total: int) -> None: ...
    def close(self) -> None: ...

    def finished(self, result: PointResult, *, resumed: bool) -> None:
        extra: dict[str, Any] = {"resumed": resumed}
        if self._objective is not None:
            extra["objective"] = self._objective.judge(result).to_json()
        print(json.dumps(result.to_json() | extra), flush=True)


def counting(repeats: int) -> Callable[[PointSpec], str]:
    def name_point(spec: PointSpec) -> str:
        turn = f", repeat {spec.repeat + 1} of {repeats}" if repeats > 1 else ""
        return f"{spec.title}{turn}"

    return name_point


_LONG_S = 5.0
"""A shorter point's rate is printed only at its end, if there is no terminal."""


class LiveProgress(Reporter, Closing):
    """A bar for the running point with its current rate, and a line for each finished point."""

    def __init__(
        self,
        named: Callable[[PointSpec], str],
        *,
        quiet: bool = False,
        grows: bool = False,
        judged: Callable[[PointResult], str | None] | None = None,
    ) -> None:
        """`grows`: windows can be lengthened. `judged` returns a result's fault in words."""
        self._console = Console(stderr=True, quiet=quiet)
        self._named, self._grows, self._judged = named, grows, judged
        self._looked = quiet
        self._planned, self._done = 0, 0
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task: TaskID | None = None
        self._silent: PointSpec | None = None
        """The long point that has not printed its rate yet."""

    def close(self) -> None:
        self._bars.stop()

    def planned(self, points: int) -> None:
        self._planned = points

    def opening(self, title: str) -> None:
        self._replace(title, total=None)

    def seeding(self, done: int, total: int) -> None:
        if self._task is not None:
            rate = f"{format_size(done)} of {format_size(total)}"
            self._bars.update(self._task, completed=done, total=total, rate=rate)

    def started(self, spec: PointSpec) -> None:
        """Show that a point is being measured; before the first point, warn of other programs."""
        if not self._looked:
            self._looked = True
            self._replace("checking the CPU use of other programs", total=None)
            if (use := other_programs()).disturb:
                self._say(f"[yellow]note[/] {escape(str(use))}")
        self._replace(self._title(spec), total=spec.warmup_s + spec.measure_s)
        self._silent = spec if self._bars.disable and spec.measure_s >= _LONG_S else None

    def retried(self, spec: PointSpec) -> None:
        self._say(
            f".. {self._title(spec)}: once more with {spec.threads} threads, as the load "
            "generator was the limit"
        )

    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None:
        """Move the bar and show the rate of the last half second."""
        latest = store.latest(spec.key)
        if self._task is not None and latest is not None:
            phase, step, rate = latest
            rate_text = f"{format_rate(rate)}/s" + f" of {step}" * (step != SEQUENCE)
            self._bars.update(self._task, completed=elapsed_s, rate=f"{phase} {rate_text}")
            if spec == self._silent and phase == "measure":
                self._silent = None
                self._say(f".. {self._title(spec)}: {rate_text} so far")

    def finished(self, result: PointResult, *, resumed: bool) -> None:
        """Print a line, marked if the point is invalid or had failures."""
        self._replace("", total=None)
        spec, verdict = result.spec, result.verdict
        reason = self._judged(result) if self._judged is not None else None
        good = verdict.valid and not result.failures and reason is None
        mark = "[green]ok[/]" if good else "[yellow]note[/]"
        least = "at least " if verdict.grade == Quoted.AT_LEAST else ""
        self._say(
            f"{mark} {self._title(spec)}: {least}"
            f"[bold]{format_rate(result.ops_per_s)}/s[/], {plural(result.failures, 'failure')}, "
            f"{escape(reason or verdict.bound)}{' (measured before)' if resumed else ''}"
        )
        if self._grows and spec.until is None and result.seconds > LONGER * spec.measure_s:
            window = format_duration(spec.measure_s)
            self._say(
                f".. {self._title(spec)}: its window grew from {window} to {result.seconds:.0f}s, "
                f"as a change of the rate might be a drift; --measure {window} keeps it"
            )
        self._done += 1

    def _title(self, spec: PointSpec) -> str:
        nth = f"{self._done + 1}/{self._planned} " if self._planned > 1 else ""
        return f"{nth}{escape(self._named(spec))}"

    def _say(self, line: str) -> None:
        # Terminals wrap long lines themselves, and a program that reads a pipe needs whole lines.
        self._console.print(line, highlight=False, soft_wrap=True)

    def _replace(self, description: str, total: float | None) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        if description:
            self._bars.start()
            self._task = self._bars.add_task(description, total=total, rate="")


Shown = JsonLines | LiveProgress


@contextmanager
def bar(title: str, total: int, *, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Yield a function that shows a count, and possibly another title."""
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count, to=title: progress.update(task, completed=count, description=to)
