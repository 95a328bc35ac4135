"""The execution of a long run, and its judgement."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benches.soak import mix
from benches.soak.account import Line
from benches.soak.reading import COUNTERS, DIRECTORY, Soaked, read
from benches.soak.render import tables
from benches.soak.trend import Figure
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.opening import open_embedded
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput, MeasurementFailed, SitebenchError
from sitebench.measure.command import say
from sitebench.measure.progress import LiveProgress, counting
from sitebench.measure.sweep import Stage, sweep
from sitebench.runs.manifest import collect
from sitebench.runs.point import PointSpec
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.system.limits import allow_descriptors
from sitebench.tables.terminal import show

LOCUSTFILE = Path(__file__).with_name("locustfile.py")
LOOK_S = 1.0
"""Interval between readings of the directory's counters, as of every other sample."""

QUIET_S = 10.0
"""Time limit for the last connections to close."""

STILL_S = 0.1
"""Counters are still if two readings this far apart agree."""


def last_counters(target: OpenDirectory) -> dict[str, int]:
    """Return the directory's counters once every connection is closed."""
    give_up, last = time.monotonic() + QUIET_S, target.counters()
    while time.monotonic() < give_up:
        time.sleep(STILL_S)
        now = target.counters()
        if now == last and now["connections"] == now["disconnections"]:
            break
        last = now
    return last


class CountingProgress(LiveProgress):
    """Shows progress, and records the directory's counters once a second."""

    def __init__(self) -> None:
        super().__init__(counting(1))
        self.target: OpenDirectory | None = None
        self._next_s = 0.0

    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None:
        super().progress(spec, elapsed_s, store)
        if self.target is not None and elapsed_s >= self._next_s:
            self._next_s = elapsed_s + LOOK_S
            counters = self.target.counters().items()
            rows = [(DIRECTORY, name, float(value)) for name, value in counters]
            store.append_sample(store.point_id(spec.key), time.monotonic_ns(), rows)


def soak(entries: int, measure_s: float, users: int, think_s: float, out: str) -> None:
    """Run the mix, show the result, and raise if a bound does not hold."""
    if Path(out).exists():
        raise BadInput(f"{out} exists already", "name a new run file with --out")
    allow_descriptors(users)
    options = IlsOptions(
        entries=entries,
        profile=mix.PROFILE,
        users=users,
        think=think_s,
        warmup=min(mix.SETTLED_S, measure_s / 4),
        measure=measure_s,
        ring=mix.RING,
    )
    with RunStore(out) as store, contextlib.ExitStack() as last:
        last.callback(say, f"run file: {out}")
        command = ["python", "-m", "benches.soak", *sys.argv[1:]]
        store.set_manifest(collect([], {**POINTS.facts(options, [entries]), "command": command}))
        with CountingProgress() as progress:
            title = f"making a directory of {entries:,} people"
            programs = [sequence for sequence, _ in mix.USERS.values()]
            test = POINTS.test(options, "soak", programs)
            test = replace(test, locustfile=LOCUSTFILE, user_classes=tuple(mix.USERS))
            stage = Stage(title, [test], lambda: opened(options, store, progress))
            try:
                sweep([stage], store, progress)
            except (KeyboardInterrupt, SitebenchError):
                # An interrupted or failed run is judged by its available results.
                last.callback(_show, store)
                raise
        assure(_show(store), out)


@contextlib.contextmanager
def opened(
    options: IlsOptions, store: RunStore, progress: CountingProgress
) -> Iterator[OpenDirectory]:
    """Open the directory; record its counters in the run file before and after the load."""
    target = open_embedded(options, spec_of(options, options.entries), ils_ttl_s=mix.LIFE_S)
    with contextlib.ExitStack() as after:
        after.callback(target.close)
        counters = {"before": target.counters()}

        def closed() -> None:
            if "after" not in counters:
                counters["after"] = last_counters(target)
                store.set_manifest({COUNTERS: counters})

        def alive() -> bool:
            closed()  # The counters are read before another client sends a request.
            return target.alive()

        progress.target = target
        try:
            yield replace(target, alive=alive)
        finally:
            if target.alive():
                closed()


def _show(store: RunStore) -> Soaked | None:
    with RunFile(store.path) as file:
        soaked = read(file, file.points()[0].id)
    if soaked is not None:
        show([*tables(soaked), f"{soaked.failures:,} failures"])
    return soaked


def assure(soaked: Soaked | None, out: str) -> None:
    if soaked is None:
        raise MeasurementFailed("the run is too short to be judged", "use a longer --measure")
    judged: list[Figure | Line] = [*soaked.figures, *soaked.account]
    wrong = [each.what for each in judged if not each.holds]
    if not soaked.account:
        wrong.append("the account, because the directory was gone")
    if soaked.failures:
        wrong.append(f"{soaked.failures:,} failures")
    if wrong:
        raise MeasurementFailed(
            f"not as promised: {', '.join(wrong)}",
            f"look at it over time: sitebench report {shlex.quote(out)}",
        )
