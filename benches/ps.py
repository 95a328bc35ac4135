"""Speed and memory of the site suite: trials and their references.

Everything runs on loopback, the site and nginx in separate processes, one thread on each side.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from functools import cached_property
from typing import Any

import psutil

from benches.bench import LANES, WARMUP_S, Bench, measured, run_lanes, temporary_folder
from benches.ratios import Trial, Values, rows_of
from ps_bench.operations import PAGE_BYTES, built_in
from ps_bench.options import PsOptions
from ps_bench.points import POINTS, engine_config
from ps_bench.targets.opening import open_target, spec_of
from sitebench._engine import Engine, copy_upd
from sitebench.http.site import OpenSite
from sitebench.scenario.script import Script, from_text
from sitebench.seeders.upd import build, open_cached, visitors
from sitebench.suite_base.points import Load
from sitebench.system.native_errors import translated

THOUSAND, TEN_THOUSAND, MILLION = 1_000, 10_000, 1_000_000
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
"""The page with another file: users hold two texts of each answer."""


def static(*, keepalive: bool = False) -> Script:
    """Return a scenario of static pages with the size of a page, for any web server."""
    per = "user" if keepalive else "step"
    step = f'{{ name = "static", get = "/page.html", expect.length = {PAGE_BYTES} }}'
    operation = f'name = "static"\npage = true\ncounts = "static"\nstep = [{step}]\n'
    return from_text("static", f'connection.main.per = "{per}"\n\n[[operation]]\n{operation}')


ROWS = rows_of("ps")


class SiteBench(Bench):
    def trials(self) -> list[Trial]:
        return [
            Trial("ps-page", lambda: self._alone(built_in("page", keepalive=True), self._site)),
            Trial("ps-file", lambda: self._alone(from_text("file", PAGE_FILE), self._site)),
            Trial("ps-locust", self._through_locust),
            Trial("ps-scenario1k", lambda: self._fresh("scenario", THOUSAND)),
            Trial("ps-scenario1m", lambda: self._fresh("scenario", MILLION)),
            Trial("ps-memory", self._memory),
            Trial("ps-update", lambda: self._fresh("update")),
            Trial("ps-sqlite", self._sqlite),
            Trial("ps-upd", self._upd),
        ]

    def _options(self, size: int) -> PsOptions:
        load: dict[str, Any] = {
            "threads": 1,
            "users": LANES,
            "warmup": WARMUP_S,
            "measure": self.seconds,
        }
        return PsOptions(entries=size, keepalive=True, **load)

    @cached_property
    def _site(self) -> OpenSite:
        return self.stack.enter_context(open_target(self._options(TEN_THOUSAND)))

    def _alone(self, scenario: Script, site: OpenSite, size: int = TEN_THOUSAND) -> Values:
        """Run lanes in this process, without Locust; return rates and an operation's CPU time."""
        options = self._options(size)
        config = engine_config(Load(options, site, [scenario]))
        with translated():
            engine = Engine(config, visitors(spec_of(options)))
        lanes = run_lanes(engine, scenario.name, LANES, self.seconds)
        counted = {(each.name, each.counts) for each in scenario.operations}
        pages = {(each.name, each.counts) for each in scenario.operations if each.page}
        page_rates = lanes.rates(lambda step: (step.program, step.step) in pages)
        rates = lanes.rates(lambda step: (step.program, step.step) in counted)
        return {**rates, "pages_per_s": page_rates["ops_per_s"]}

    def _fresh(self, operation: str, size: int = TEN_THOUSAND) -> Values:
        """Run an operation on a copy of its own each time, because the operation adds people."""
        with open_target(self._options(size)) as site:
            return self._alone(built_in(operation, keepalive=True), site, size)

    def _through_locust(self) -> Values:
        options = self._options(TEN_THOUSAND)
        test = POINTS.test(options, "page").at(self._site)
        return {"ops_per_s": measured(test).ops_per_s}

    def _memory(self) -> Values:
        """Compare the peak memory after the same load, including the memory of serving."""
        resident = {}
        for size in (THOUSAND, MILLION):
            with open_target(self._options(size)) as site:
                self._alone(built_in("scenario", keepalive=True), site, size)
                resident[size] = psutil.Process(site.pid).memory_info().rss
        return {"million": resident[MILLION], "allowed": resident[THOUSAND] + 64 * MIB}

    def _sqlite(self) -> Values:
        """Perform the transactions of an update with SQLite alone, one person after another."""
        upd = open_cached(spec_of(self._options(TEN_THOUSAND)))
        update = "UPDATE people SET background = ?, accent = ? WHERE id = ?"
        with temporary_folder() as folder:
            path = folder / "upd.sqlite"
            with translated():
                copy_upd(str(upd.path), str(path))
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
                done, began = 0, time.monotonic()
                while (now := time.monotonic()) < began + self.seconds:
                    for _ in range(100):
                        colour = f"#{done & 0xFFFFFF:06x}"
                        # A statement outside of a transaction is its own transaction.
                        db.execute(update, (colour, colour, done * 7919 % TEN_THOUSAND))
                        done += 1
        return {"ops_per_s": done / (now - began)}

    def _upd(self) -> Values:
        spec = spec_of(self._options(MILLION))
        with temporary_folder() as folder:
            began = time.monotonic()
            native = build(spec, folder / "native.sqlite").path
            native_s = time.monotonic() - began
            with contextlib.closing(sqlite3.connect(native)) as db:
                query = "SELECT sql FROM sqlite_schema WHERE name = 'people'"
                (table,) = db.execute(query).fetchone()
                rows = db.execute("SELECT * FROM people").fetchall()
            marks = ", ".join("?" * len(rows[0]))
            with contextlib.closing(sqlite3.connect(folder / "python.sqlite")) as db:
                began = time.monotonic()
                db.execute(table)
                with db:
                    db.executemany(f"INSERT INTO people VALUES ({marks})", rows)
                return {"native_s": native_s, "python_s": time.monotonic() - began}
