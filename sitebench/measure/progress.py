"""Progress of a sweep, for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from sitebench.measure.objective import Objective
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.system.closing import Closing
from sitebench.units import format_rate, format_size


class JsonLines(Closing):
    """Prints one JSON object per point as soon as it is done; standard output is for results."""

    def __init__(self, objective: Objective | None = None) -> None:
        self._objective = objective

    def opening(self, title: str) -> None: ...
    def seeding(self, done: int, total: int) -> None: ...
    def started(self, spec: PointSpec) -> None: ...
    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None: ...
    def close(self) -> None: ...

    def finished(self, result: PointResult, *, resumed: bool) -> None:
        more: dict[str, Any] = {"resumed": resumed}
        if self._objective is not None:
            more["objective"] = self._objective.judge(result).to_json()
        print(json.dumps(result.to_json() | more), flush=True)


def counting(repeats: int) -> Callable[[PointSpec], str]:
    """Return how to name the points of a sweep, and which repeat of how many."""

    def named(spec: PointSpec) -> str:
        of = f", repeat {spec.repeat + 1} of {repeats}" if repeats > 1 else ""
        return f"{spec.title}{of}"

    return named


class Live(Closing):
    """A bar for the running point with its current rate, and a line for each finished one."""

    def __init__(self, named: Callable[[PointSpec], str]) -> None:
        self._console = Console(stderr=True)
        self._named = named
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task: TaskID | None = None

    def close(self) -> None:
        self._bars.stop()

    def opening(self, title: str) -> None:
        self._replace(title, total=None)

    def seeding(self, done: int, total: int) -> None:
        if self._task is not None:
            rate = f"{format_size(done)} of {format_size(total)}"
            self._bars.update(self._task, completed=done, total=total, rate=rate)

    def started(self, spec: PointSpec) -> None:
        self._replace(self._named(spec), total=spec.warmup_s + spec.measure_s)

    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None:
        """Move the bar and show the rate of the last half second."""
        latest = store.latest(spec.key)
        if self._task is not None and latest is not None:
            phase, rate = latest
            shown = f"{phase} {format_rate(rate)}/s"
            self._bars.update(self._task, completed=elapsed_s, rate=shown)

    def finished(self, result: PointResult, *, resumed: bool) -> None:
        """Print one line, marked if the point is invalid or had failures."""
        self._replace("", total=None)
        spec, verdict = result.spec, result.verdict
        mark = "[green]ok[/]" if verdict.valid and not result.failures else "[yellow]look[/]"
        self._console.print(
            f"{mark} {self._named(spec)}: "
            f"[bold]{format_rate(result.ops_per_s)}/s[/], {result.failures:,} failures, "
            f"{verdict.bound}{' (measured before)' if resumed else ''}",
            highlight=False,
        )
        if not verdict.valid or result.failures:
            self._console.print(f"   {verdict.evidence}", highlight=False, style="dim")

    def _replace(self, description: str, total: float | None) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
        if description:
            self._bars.start()
            self._task = self._bars.add_task(description, total=total, rate="")


Shown = JsonLines | Live


@contextmanager
def bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; yields the function that moves it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
