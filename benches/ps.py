"""Speed and memory of the site suite: what is measured, and what it is held against.

Everything runs on loopback, the site and nginx in processes of their own, one thread each side.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benches.bench import LANES, Bench, measured, temporary_folder
from benches.ratios import Trial, Values, rows_of
from ps_bench.engine_config import engine_config
from ps_bench.operations import PAGE_BYTES, built_in
from ps_bench.options import PsOptions
from ps_bench.points import POINTS
from ps_bench.targets.opening import open_target, spec_of
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.scenario.script import Script, from_text
from sitebench.seeders.upd import build, open_cached, visitors
from sitebench.system.native_errors import translated

THOUSAND, TEN_THOUSAND, MILLION = 1_000, 10_000, 1_000_000
WARMUP_S = 0.5
MIB = 1 << 20

PAGE_FILE = """
[data.visitor]
people = "seeded"

[[operation]]
name = "page"
get = "/"
headers.Cookie = "user={visitor.id}"
expect.length = 8290
expect.contains = "<h1>Hello, {visitor.given}</h1>"
expect.identity = { before = '<body data-user="', value = "{visitor.id}" }
capture.background = { before = 'data-background="', until = '"' }
capture.accent = { before = 'data-accent="', until = '"' }
"""
"""The page by another file: users keep two texts of each answer."""


def static(*, keepalive: bool = False) -> Script:
    """Return pages of a file of a page's bytes, from any web server."""
    per = "user" if keepalive else "step"
    step = f'{{ name = "static", get = "/page.html", expect.length = {PAGE_BYTES} }}'
    operation = f'name = "static"\npage = true\ncounts = "static"\nstep = [{step}]\n'
    return from_text("static", f'connection.main.per = "{per}"\n\n[[operation]]\n{operation}')


ROWS = rows_of("ps")


class SiteBench(Bench):
    """Sites of several sizes, each opened when a trial first needs it."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._sites: dict[int, OpenSite] = {}

    def trials(self) -> list[Trial]:
        return [
            Trial("ps-page", lambda: self._alone(built_in("page", keepalive=True), TEN_THOUSAND)),
            Trial("ps-file", self._by_file),
            Trial("ps-locust", self._through_locust),
            Trial("ps-scenario1k", lambda: self._scenario(THOUSAND)),
            Trial("ps-scenario1m", lambda: self._scenario(MILLION)),
            Trial("ps-memory", self._memory),
            Trial("ps-update", self._update),
            Trial("ps-sqlite", self._sqlite),
            Trial("ps-upd", self._upd),
        ]

    def _options(self, size: int) -> PsOptions:
        return PsOptions(
            entries=size,
            keepalive=True,
            threads=1,
            users=LANES,
            warmup=WARMUP_S,
            measure=self.seconds,
        )

    def _site(self, size: int) -> OpenSite:
        if size not in self._sites:
            self._sites[size] = self.stack.enter_context(open_target(self._options(size)))
        return self._sites[size]

    def _alone(self, scenario: Script, size: int) -> dict[str, float]:
        return engine_alone(self._options(size), self._site(size).address, scenario, self.seconds)

    def _by_file(self) -> Values:
        return self._alone(from_text("file", PAGE_FILE), TEN_THOUSAND)

    def _scenario(self, size: int) -> Values:
        """Run the scenario on a copy of its own each time: it grows by being used."""
        options = self._options(size)
        with open_target(options) as site:
            return engine_alone(
                options, site.address, built_in("scenario", keepalive=True), self.seconds
            )

    def _update(self) -> Values:
        options = self._options(TEN_THOUSAND)
        with open_target(options) as site:
            return engine_alone(
                options, site.address, built_in("update", keepalive=True), self.seconds
            )

    def _through_locust(self) -> Values:
        options = self._options(TEN_THOUSAND)
        test = POINTS.test(options, "page").at(self._site(TEN_THOUSAND))
        return {"ops_per_s": measured(test).ops_per_s}

    def _memory(self) -> Values:
        """Compare the peaks after the same load: what was served is in the figure."""
        resident = {}
        for size in (THOUSAND, MILLION):
            with open_target(self._options(size)) as site:
                engine_alone(
                    self._options(size),
                    site.address,
                    built_in("scenario", keepalive=True),
                    self.seconds,
                )
                resident[size] = psutil.Process(site.pid).memory_info().rss
        return {"million": resident[MILLION], "allowed": resident[THOUSAND] + 64 * MIB}

    def _sqlite(self) -> Values:
        """Do what an update does, a transaction each, with nothing around SQLite."""
        upd = open_cached(spec_of(self._options(TEN_THOUSAND)))
        with _copy(upd.path) as path:
            return sqlite_alone(path, TEN_THOUSAND, self.seconds)

    def _upd(self) -> Values:
        spec = spec_of(self._options(MILLION))
        with temporary_folder() as folder:
            began = time.monotonic()
            made = build(spec, folder / "native.sqlite")
            native_s = time.monotonic() - began
            return {
                "native_s": native_s,
                "python_s": executemany_s(made.path, folder / "python.sqlite"),
            }


def engine_alone(
    options: PsOptions, address: SiteAddress, scenario: Script, seconds: float
) -> dict[str, float]:
    """Run lanes in this process, without Locust; return their rates and what one cost."""
    config = engine_config(options, address, [scenario], slot=WorkerSlot())
    counted = [(each.name, each.counts) for each in scenario.operations]
    pages = [(each.name, each.counts) for each in scenario.operations if each.page]
    from sitebench._engine import Engine

    with translated():
        engine = Engine(config, visitors(spec_of(options)))
        engine.start_lanes(scenario.name, options.users)
        time.sleep(WARMUP_S)
        before = engine.drain()
        time.sleep(seconds)
        after = engine.drain()
        engine.stop()
    took = (after.t1_ns - after.t0_ns) / 1e9
    done = {
        (step.program, step.step): step.count - sum(step.failures.values()) for step in after.steps
    }
    operations = sum(done.get(each, 0) for each in counted)
    cpu_ns = sum(after.cpu_ns) - sum(before.cpu_ns)
    return {
        "ops_per_s": operations / took,
        "pages_per_s": sum(done.get(each, 0) for each in pages) / took,
        "cpu_us": cpu_ns / max(operations, 1) / 1e3,
    }


def sqlite_alone(path: Path, size: int, seconds: float) -> dict[str, float]:
    """Update two properties of one person after the other for a while."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    done, began = 0, time.monotonic()
    give_up = began + seconds
    while time.monotonic() < give_up:
        for _ in range(100):
            colour = f"#{done & 0xFFFFFF:06x}"
            # One statement outside of a transaction is a transaction.
            db.execute(
                "UPDATE people SET background = ?, accent = ? WHERE id = ?",
                (colour, colour, done * 7919 % size),
            )
            done += 1
    took = time.monotonic() - began
    db.close()
    return {"ops_per_s": done / took}


def executemany_s(source: Path, target: Path) -> float:
    """Write the rows of one database to another as Python does it; return the seconds it took."""
    with contextlib.closing(sqlite3.connect(source)) as known:
        (table,) = known.execute("SELECT sql FROM sqlite_schema WHERE name = 'people'").fetchone()
        rows = known.execute("SELECT * FROM people").fetchall()
    marks = ", ".join("?" * len(rows[0]))
    with contextlib.closing(sqlite3.connect(target)) as db:
        began = time.monotonic()
        db.execute(table)
        with db:
            db.executemany(f"INSERT INTO people VALUES ({marks})", rows)
        return time.monotonic() - began


@contextlib.contextmanager
def _copy(source: Path) -> Iterator[Path]:
    from sitebench._engine import copy_upd

    with temporary_folder() as folder:
        path = folder / "upd.sqlite"
        with translated():
            copy_upd(str(source), str(path))
        yield path
