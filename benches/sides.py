"""Sides of the pairs that `make bench` compares: a load generator and its server, kept open.

    Child("benches.sides", {"side": "lookup", "seconds": 0.4}).ask()

Each side is a separate process with its server as a child, so that two builds can be compared
and a stopped side (SIGSTOP) uses no CPU while the other side is measured. An answer is one
slice: its rate, the CPU of an operation in load generator and server, and its latency.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import psutil

from benches import nginx, ps, scenarios, wrk
from benches.bench import LANES
from benches.ils import KEPT
from benches.web import FILES_8K
from ils_bench import sequences
from ils_bench.calibrate import running_engine
from ils_bench.options import IlsOptions
from ils_bench.targets import opening as directories
from ils_bench.targets.ldap_directory import LdapDirectory
from ps_bench import points as site_points
from ps_bench.operations import PAGE_BYTES, built_in
from ps_bench.options import PsOptions
from ps_bench.targets import opening as sites
from sitebench._engine import Engine
from sitebench.calibrate import floor
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.scenario.script import Script
from sitebench.seeders.upd import visitors
from sitebench.suite_base.points import Load
from sitebench.system.child import Service, serve
from sitebench.system.machine import cpu_ns
from sitebench.system.native_errors import translated
from web_bench import points as web_points
from web_bench.options import WebOptions
from web_bench.targets import opening as web_servers

PEOPLE = 10_000
SETTLE_S = 0.05
"""The settling time after a pause: earlier answers do not belong to the slice."""
WARMUP_S = 0.3

Slice = Mapping[str, float]
Measure = Callable[[float], Slice]
"""Measures a slice of this many seconds."""


def slice_of(engine: Engine, counted: set[str], server: int | None, seconds: float) -> Slice:
    """Measure running lanes; operations are the steps named in `counted`.

    `server` is a process, or None if the server runs in this process.
    """
    time.sleep(SETTLE_S)
    before, server_ns = engine.drain(), _family_ns(server)
    time.sleep(seconds)
    after, server_ns = engine.drain(), _family_ns(server) - server_ns
    steps = [step for step in after.steps if step.step in counted]
    operations = sum(step.count - sum(step.failures.values()) for step in steps)
    client_ns = sum(after.cpu_ns) - sum(before.cpu_ns)
    latency = steps[0].clocks["latency"].copy()
    for step in steps[1:]:
        latency.add(step.clocks["latency"])
    server_us = {"server_us": server_ns / max(operations, 1) / 1e3} if server else {}
    return server_us | {
        "rate": operations / (after.t1_ns - after.t0_ns) * 1e9,
        "client_us": client_ns / max(operations, 1) / 1e3,
        "p50_us": latency.percentile(50) / 1e3,
        "p99_us": latency.percentile(99) / 1e3,
    }


def _family_ns(pid: int | None) -> int:
    """Return the CPU of a server and its workers."""
    if pid is None:
        return 0
    workers = psutil.Process(pid).children(recursive=True)
    return sum(cpu_ns(process) for process in (pid, *(worker.pid for worker in workers)))


@contextlib.contextmanager
def _floor() -> Iterator[Measure]:
    with floor.responder(floor.Exchange(104, 1_283)) as responder:

        def measure(seconds: float) -> Slice:
            exchanges = floor.exchanges(responder, LANES, seconds)
            return {
                "rate": exchanges.ops_per_s,
                "client_us": exchanges.client_cpu_us,
                "server_us": exchanges.server_cpu_us,
                "p50_us": exchanges.p50_us,
            }

        yield measure


@contextlib.contextmanager
def _directory(operation: str, threads: int = 1, verify: str = "digest") -> Iterator[Measure]:
    program = KEPT if operation == "lookup" else sequences.built_in(operation)
    options = IlsOptions(
        entries=PEOPLE,
        target="embedded",
        target_threads=threads,
        threads=threads,
        users=LANES,
        verify=verify,
    )
    with (
        directories.open_target(options, PEOPLE) as target,
        running_engine(options, target, program, LANES) as engine,
    ):
        yield partial(slice_of, engine, {step for _, step in program.counted_rows}, target.pid)


@contextlib.contextmanager
def _adds(threads: int = 1) -> Iterator[Measure]:
    """Add people to a new directory in each slice, because it grows during the measurement."""

    def measure(seconds: float) -> Slice:
        with _directory("add", threads) as measure_once:
            return measure_once(seconds)

    yield measure


@contextlib.contextmanager
def _site(address: SiteAddress, server: int | None, script: Script) -> Iterator[Measure]:
    """Load any web server with the lanes of a site's scenario."""
    options = PsOptions(entries=PEOPLE, keepalive=True, threads=1, users=LANES)
    config = site_points.engine_config(Load(options, OpenSite("site", address), [script]))
    with translated():
        engine = Engine(config, visitors(sites.spec_of(options)))
    with _running(engine, script.name):
        yield partial(slice_of, engine, {step.counts for step in script.operations}, server)


@contextlib.contextmanager
def _running(engine: Engine, program: str) -> Iterator[None]:
    with translated():
        engine.start_lanes(program, LANES)
        try:
            time.sleep(WARMUP_S)
            yield
        finally:
            engine.stop()


@contextlib.contextmanager
def _pages(row_cache: int = 0) -> Iterator[Measure]:
    options = PsOptions(entries=PEOPLE, keepalive=True, threads=1, row_cache=row_cache)
    with (
        sites.open_target(options) as site,
        _site(site.address, site.pid, built_in("page", keepalive=True)) as measure,
    ):
        yield measure


@contextlib.contextmanager
def _nginx_page(*, by_wrk: bool = False) -> Iterator[Measure]:
    with nginx.serving(b"x" * PAGE_BYTES) as server:
        if by_wrk:
            yield _with_wrk(f"{server.address}/page.html", server.pid)
        else:
            with _site(server.address, server.pid, ps.static(keepalive=True)) as measure:
                yield measure


def _with_wrk(url: str, server: int | None) -> Measure:
    wrk.find()

    def measure(seconds: float) -> Slice:
        server_ns = _family_ns(server)
        load = wrk.run(url, LANES, seconds)
        server_us = (_family_ns(server) - server_ns) / max(load["requests"], 1) / 1e3
        return {"rate": load["ops_per_s"], "client_us": load["cpu_us"], "server_us": server_us}

    return measure


@contextlib.contextmanager
def _files(target: str, *, by_wrk: bool = False) -> Iterator[Measure]:
    options = WebOptions(target=target, threads=1)
    with web_servers.open_target(options, [FILES_8K]) as opened:
        if by_wrk:
            yield _with_wrk(f"{opened.address}/bench-8k/8k/0/0.html", opened.pid)
            return
        config = web_points.engine_config(Load(options, opened, [FILES_8K]))
        with translated():
            engine = Engine(config)
        with _running(engine, FILES_8K.name):
            yield partial(slice_of, engine, {kind.name for kind in FILES_8K.classes}, opened.pid)


@contextlib.contextmanager
def _file_lookups(more: str = "") -> Iterator[Measure]:
    """Look people up with the text of the built-in operation and further keys."""
    with LdapDirectory(PEOPLE) as directory:
        target = {"host": "127.0.0.1", "port": directory.port, "base": directory.base}
        scenarios = [{"name": "lookup", "text": sequences.text_of("lookup") + more}]
        engine = Engine(json.dumps({"target": target, "scenarios": scenarios}), directory.people)
        with _running(engine, "lookup"):
            yield partial(slice_of, engine, {"lookup"}, None)


@contextlib.contextmanager
def _csv_searches(text_name: str) -> Iterator[Measure]:
    with scenarios.csv_people() as (directory, table):
        engine = scenarios.csv_engine(directory, table, getattr(scenarios, text_name))
        with _running(engine, "csv"):
            yield partial(slice_of, engine, {"search"}, None)


SIDES: Mapping[str, Callable[[], contextlib.AbstractContextManager[Measure]]] = {
    "floor": _floor,
    "lookup": partial(_directory, "lookup"),
    "lookup-full": partial(_directory, "lookup", verify="full"),
    "add": _adds,
    "add-threads": partial(_adds, 2),
    "connect": partial(_directory, "connect"),
    "connect-threads": partial(_directory, "connect", 2),
    "page": _pages,
    "page-memory": partial(_pages, PEOPLE),
    "page-nginx": _nginx_page,
    "page-wrk": partial(_nginx_page, by_wrk=True),
    "files": partial(_files, "embedded"),
    "files-nginx": partial(_files, "nginx"),
    "files-wrk": partial(_files, "nginx", by_wrk=True),
    "file-lookup": _file_lookups,
    "bounded-lookup": partial(_file_lookups, "size_limit = 5\n"),
    "csv-search": partial(_csv_searches, "CSV_SEARCH"),
    "named-lookup": partial(_csv_searches, "NAMED_LOOKUP"),
}


def start(request: dict[str, Any]) -> Service:
    """Open a side, which answers each line of its parent with a slice."""
    stack = contextlib.ExitStack()
    try:
        measure = stack.enter_context(SIDES[request["side"]]())
    except BaseException:
        stack.close()
        raise
    return Service({}, stack.close, lambda: measure(request["seconds"]))


if __name__ == "__main__":
    serve(start)
