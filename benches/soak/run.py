"""`sitebench ils soak`: a long run of the embedded directory, and what is to be said of it."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benches.soak import mix
from benches.soak.account import Line
from benches.soak.reading import COUNTERS, DIRECTORY, Soaked, read
from benches.soak.render import tables
from benches.soak.trend import Figure
from ils_bench.options import IlsOptions
from ils_bench.points import IlsEndpoint, manifest, point
from ils_bench.targets.embedded import open_embedded
from ils_bench.targets.opening import directory_config
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenTarget
from sitebench.errors import BadInput, MeasurementFailed, SitebenchError
from sitebench.measure.command import Report, say, show
from sitebench.measure.point_process import PointCommand
from sitebench.measure.progress import Live, counting
from sitebench.measure.sweep import Stage, sweep
from sitebench.runs.manifest import collect
from sitebench.runs.point import PointSpec
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.system.limits import allow_descriptors

FIRST, *OTHERS = mix.USERS
LOOK_S = 1.0
"""How often the directory is asked for its counters while it works, as everything is looked at."""

QUIET_S = 10.0
"""How long the last connections may take to be gone."""

STILL_S = 0.1
"""Counters that two readings this far apart agree on are not changing."""


def last_counters(target: OpenTarget) -> dict[str, int]:
    """Return the directory's counters once everybody has gone."""
    give_up, last = time.monotonic() + QUIET_S, target.counters()
    while time.monotonic() < give_up:
        time.sleep(STILL_S)
        now = target.counters()
        if now == last and now["connections"] == now["disconnections"]:
            break
        last = now
    return last


@dataclass(frozen=True)
class SoakEndpoint(IlsEndpoint):
    """The directory of a long run."""

    closed: Callable[[], None]
    """Called when all lanes have ended."""

    def command(self, spec: PointSpec) -> PointCommand:
        """Return how to have users of all kinds there."""
        one = super().command(spec)
        return replace(one, arguments=[*one.arguments, *OTHERS])

    def users(self, spec: PointSpec) -> tuple[Path, str]:
        """Return the locustfile of the mix, and the first of its classes."""
        return Path(__file__).with_name("locustfile.py"), FIRST

    def check(self) -> None:
        """Read the counters before anybody else asks something."""
        self.closed()
        super().check()


class Watching(Live):
    """Shows how it goes, and writes down what the directory counts."""

    def __init__(self) -> None:
        super().__init__(counting(1))
        self.target: OpenTarget | None = None
        self._next_s = 0.0

    def progress(self, spec: PointSpec, elapsed_s: float, store: RunStore) -> None:
        """Move the bar, and ask the directory."""
        super().progress(spec, elapsed_s, store)
        if self.target is not None and elapsed_s >= self._next_s:
            self._next_s = elapsed_s + LOOK_S
            counters = self.target.counters().items()
            rows = [(DIRECTORY, name, float(value)) for name, value in counters]
            store.append_sample(store.point_id(spec.key), time.monotonic_ns(), rows)


def soak(entries: int, measure_s: float, users: int, out: str) -> None:
    """Have the mix done, show what came of it, and raise when something of it does not hold."""
    if Path(out).exists():
        raise BadInput(f"{out} is there already", "name a new run file with --out")
    allow_descriptors(users)
    options = IlsOptions(
        entries=entries,
        profile=mix.PROFILE,
        users=users,
        warmup=min(mix.SETTLED_S, measure_s / 4),
        measure=measure_s,
        ring=mix.RING,
    )
    with RunStore(out) as store, contextlib.ExitStack() as last:
        last.callback(say, f"run file: {out}")
        store.set_manifest(collect(sys.argv[1:], manifest(options, [entries])))
        with Watching() as watching:
            title = f"making a directory of {entries:,} people"
            stage = Stage(title, [point(options, "soak")], lambda: opened(options, store, watching))
            try:
                sweep([stage], store, watching)
            except (KeyboardInterrupt, SitebenchError):
                # What there is of it is worth a look all the more.
                last.callback(_show, store)
                raise
        assure(_show(store), out)


@contextlib.contextmanager
def opened(options: IlsOptions, store: RunStore, watching: Watching) -> Iterator[SoakEndpoint]:
    """Open the directory; its counters go into the run file before all, and after all."""
    config = directory_config(options) | {"ils_ttl_s": mix.LIFE_S}
    target = open_embedded(spec_of(options, options.entries), config)
    with contextlib.ExitStack() as after:
        after.callback(target.close)
        counters = {"before": target.counters()}

        def closed() -> None:
            if "after" not in counters:
                counters["after"] = last_counters(target)
                store.set_manifest({COUNTERS: counters})

        watching.target = target
        try:
            yield SoakEndpoint(target, options, closed)
        finally:
            if target.alive():
                closed()


def _show(store: RunStore) -> Soaked | None:
    """Show what the run file has."""
    with RunFile(store.path) as file:
        soaked = read(file, file.points()[0].id)
    if soaked is not None:
        show(Report(tables(soaked), [f"{soaked.failures:,} failures"]))
    return soaked


def assure(soaked: Soaked | None, out: str) -> None:
    """Raise when something does not hold."""
    if soaked is None:
        raise MeasurementFailed("there is too little of it to say anything", "let it go on longer")
    looked_at: list[Figure | Line] = [*soaked.figures, *soaked.account]
    wrong = [each.what for each in looked_at if not each.holds]
    if not soaked.account:
        wrong.append("the account, as the directory was gone")
    if soaked.failures:
        wrong.append(f"{soaked.failures:,} failures")
    if wrong:
        raise MeasurementFailed(
            f"this does not hold: {', '.join(wrong)}",
            f"look at it over time: sitebench report {shlex.quote(out)}",
        )
