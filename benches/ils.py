"""Speed and memory of the directory suite: trials and their references.

Bytes on the wire are the paper's (a lookup's request 104, its answer 1,283); an anonymous bind
and its answer have 14 each (RFC 4511, 4.2). Everything runs on loopback, the directory in a
separate process, one thread each side unless the row is about threads.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import psutil

from benches import ils_seeding, ils_storm
from benches.bench import LANES, temporary_folder
from benches.ils_crowd import crowded
from benches.ils_engine import DirectoryBench, engine_watched, sampling
from benches.ils_web_ui import looked_at
from benches.ils_workers import workers_and_threads
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench import sequences
from ils_bench.options import IlsOptions
from ils_bench.sequences import Bind, Connect, Lookup, Repeat, Sequence, Unbind
from ils_bench.targets.opening import open_target
from ils_bench.targets.openldap import find, write_config
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench.calibrate import floor
from sitebench.calibrate.floor import Exchange
from sitebench.scenario.script import Script
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import generate
from sitebench.system.machine import usable_cores

LOOKUP = Exchange(104, 1_283)
BIND = Exchange(14, 14)
MILLION = 1_000_000
MANY_LANES = 1_000
_KEPT_STEPS = (Connect(), Bind(), Repeat(MILLION, (Lookup(),)), Unbind())
KEPT = Sequence("lookup", _KEPT_STEPS, "lookup").script()
"""Lookups over a persistent connection, like those of the floor.

The paper's sequence (`lookup10k`) opens a new connection every 100 lookups, which costs some 6 % of
its time.
"""

ROWS = (*rows_of("ils"), *ils_seeding.ROWS)


class IlsBench(DirectoryBench):
    """Directories of several sizes."""

    def trials(self) -> list[Trial]:
        return [
            Trial("lookup10k", lambda: self._alone(sequences.LOOKUP)),
            Trial("locust", lambda: {"ops_per_s": self.point(self.options()).ops_per_s}),
            Trial("watched", lambda: engine_watched(*self._lookup, LANES, self.seconds)),
            Trial("monitor", lambda: sampling(*self._lookup)),
            Trial("lookup1k", lambda: self._alone(sequences.LOOKUP, 1_000)),
            Trial("lookup1m", lambda: self._alone(sequences.LOOKUP, MILLION)),
            Trial("floor-one", lambda: self._floor(1)),
            Trial("lookup-one", lambda: self._alone(sequences.LOOKUP, lanes=1)),
            Trial("floor-many", lambda: self._floor(MANY_LANES)),
            Trial("lookup-many", lambda: self._alone(KEPT, lanes=MANY_LANES)),
            Trial("floor-connect", self._floor_connect),
            Trial("connect", lambda: self._alone(sequences.CONNECT)),
            Trial("login", self._login),
            Trial("crowd", lambda: crowded(self.options(), KEPT, self.seconds)),
            Trial("storm", lambda: ils_storm.stormed(self.options(), LANES, self.seconds)),
            Trial("threads", self._threads),
            Trial("workers", lambda: workers_and_threads(self.stack, LANES, self.seconds)),
            Trial("web-ui", lambda: looked_at(*self._lookup[:2], self.seconds)),
            Trial("memory", self._memory),
            Trial("fill", self._fill),
            Trial("fill-paper", lambda: self._fill_with("paper")),
            Trial("fill-person", lambda: self._fill_with("person")),
            Trial("slapd", self._slapd),
            *ils_seeding.trials(),
        ]

    @cached_property
    def _lookup_floor(self) -> floor.Responder:
        return self.stack.enter_context(floor.responder(LOOKUP))

    @cached_property
    def _bind_floor(self) -> floor.Responder:
        return self.stack.enter_context(floor.responder(BIND))

    def _floor(self, connections: int) -> Values:
        found = floor.exchanges(self._lookup_floor, connections, self.seconds)
        return {"ops_per_s": found.ops_per_s, "cpu_us": found.client_cpu_us}

    def _floor_connect(self) -> Values:
        found = floor.exchanges(self._bind_floor, LANES, self.seconds, reconnects=True)
        return {"ops_per_s": found.ops_per_s, "cpu_us": found.client_cpu_us}

    def _alone(self, sequence: Script, entries: int = 10_000, lanes: int = LANES) -> Values:
        return self.alone(self.options(entries), sequence, lanes)

    def _login(self) -> Values:
        options = self.options(profile="person", hash="clear", over="kept")
        with open_target(options, 10_000) as target:
            logins, lookups = (self.point(options, target, name) for name in ("login", "lookup"))
        return {"per_s": logins.ops_per_s, "lookups_per_s": lookups.ops_per_s}

    @property
    def _lookup(self) -> tuple[IlsOptions, OpenDirectory, Script]:
        return self.options(), self.target(self.options()), sequences.LOOKUP

    def _threads(self) -> Values | Skipped:
        needed = 4
        if usable_cores() < needed:
            return Skipped(f"needs {needed} cores")
        # Both trials have two engine threads; only the directory gets another thread.
        one, two = (
            self.alone(self.options(threads=2, target_threads=threads), sequences.LOOKUP)
            for threads in (1, 2)
        )
        return {"two": two["ops_per_s"], "linear": 2 * one["ops_per_s"]}

    def _memory(self) -> Values:
        options = self.options(MILLION)
        resident = psutil.Process(self.target(options).pid).memory_info().rss
        population = generate(spec_of(options, MILLION)).population
        return {
            "resident": float(resident),
            "encoded": float(population.answer_bytes(0, MILLION)),
        }

    def _fill(self) -> Values:
        slapadd = find("slapadd")
        options = self.options(MILLION)
        began = time.monotonic()
        with open_target(options, MILLION):
            embedded_s = time.monotonic() - began
        with temporary_folder() as folder:
            config = write_config(folder, spec_of(options, MILLION))
            argv = [slapadd, "-q", "-f", str(config), "-l", str(self._ldif)]
            began = time.monotonic()
            subprocess.run(argv, check=True)
            return {"embedded_s": embedded_s, "slapadd_s": time.monotonic() - began}

    def _fill_with(self, profile: str) -> Values:
        options = self.options(MILLION, profile=profile)
        population = generate(spec_of(options, MILLION)).population
        began = time.monotonic()
        with open_target(options, MILLION):
            took_s = time.monotonic() - began
        return {"ns_per_byte": took_s * 1e9 / population.answer_bytes(0, MILLION)}

    @cached_property
    def _ldif(self) -> Path:
        path = self.stack.enter_context(temporary_folder()) / "people.ldif"
        write_ldif(generate(spec_of(self.options(MILLION), MILLION)).population, path)
        return path

    def _slapd(self) -> Values:
        options = self.options(target="openldap")
        native = self.point(options)
        portable = self.point(replace(options, client="ldap3", users=4), self.target(options))
        return {
            "engine_cpu_us": native.cpu_us_per_op or 0.0,
            "ldap3_cpu_us": portable.cpu_us_per_op or 0.0,
        }
