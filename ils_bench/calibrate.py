"""`sitebench calibrate`: the engine's share of the rate of two raw TCP loops on this machine."""

from __future__ import annotations

import contextlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitebench import units
from sitebench.options import option
from sitebench.options.command import command

if TYPE_CHECKING:
    from ils_bench.options import IlsOptions
    from ils_bench.targets.target import OpenDirectory
    from sitebench._engine import Engine
    from sitebench.scenario.script import Script
    from sitebench.tables.table import Table

WARMUP_S = 0.5
WINDOW_S = 1.0
_LANES = 64
_PEOPLE = 10_000

_Rates = Mapping[str, float]


@dataclass(frozen=True)
class _CalibrateOptions:
    repeats: int = option.count(3, "Repeats, interleaved.", panel="Options")
    json: bool = option.flag("JSON instead of a table.", panel="Options")


@command(_CalibrateOptions, panel="This machine")
def calibrate(options: _CalibrateOptions) -> None:
    """Measure the rate of raw TCP on this machine, and the load generator's share of it.

    Two minimal loops, a client and a server, exchange as many bytes as a lookup (104 sent, 1,283
    received) over 64 connections and over one, and as many as a bind over new connections. No
    lookup over TCP is faster on this machine.
    """
    from rich.console import Console

    samples: dict[str, dict[str, list[float]]] = {}
    repeats = options.repeats
    with (
        contextlib.ExitStack() as stack,
        Console(stderr=True).status("starting the directory and the responders") as status,
    ):
        comparisons = _comparisons(stack, WINDOW_S)
        for n in range(repeats):
            for comparison, sides in comparisons.items():
                for side, trial in sides.items():
                    status.update(f"{comparison}: {side} ({n + 1} of {repeats})")
                    for name, value in trial().items():
                        values = samples.setdefault(comparison, {}).setdefault(f"{side}_{name}", [])
                        values.append(value)
    medians = {
        comparison: {name: statistics.median(values) for name, values in rates.items()}
        for comparison, rates in samples.items()
    }
    if options.json:
        from sitebench.runs.manifest import cpu

        print(json.dumps({"cpu": cpu(), "repeats": repeats, "floor": medians}, indent=2))
    else:
        from sitebench.tables.terminal import show

        show([_table(medians, repeats)])


def _comparisons(
    stack: contextlib.ExitStack, seconds: float
) -> dict[str, dict[str, Callable[[], _Rates]]]:
    """Start the directory and two responders; return functions that measure engine and floor."""
    from ils_bench import sequences
    from ils_bench.options import IlsOptions
    from ils_bench.targets.opening import open_target
    from sitebench.calibrate import floor

    # A lookup's request and answer in the paper, and an anonymous bind's (RFC 4511, 4.2).
    lookup, bind = floor.Exchange(104, 1_283), floor.Exchange(14, 14)
    lookup_floor = stack.enter_context(floor.responder(lookup))
    bind_floor = stack.enter_context(floor.responder(bind))
    options = IlsOptions(
        entries=_PEOPLE,
        target="embedded",
        target_threads=1,
        threads=1,
        users=_LANES,
        warmup=WARMUP_S,
        measure=seconds,
    )
    target = stack.enter_context(open_target(options, _PEOPLE))

    def engine(sequence: Script, lanes: int) -> _Rates:
        totals = engine_alone(options, target, sequence, lanes, seconds)
        return {
            "per_s": totals["ops_per_s"],
            "cpu_us": totals["cpu_us"],
            "server_cpu_us": totals["target_cpu_us"],
        }

    def raw(totals: floor.Floor) -> _Rates:
        return {
            "per_s": totals.ops_per_s,
            "cpu_us": totals.client_cpu_us,
            "server_cpu_us": totals.server_cpu_us,
        }

    return {
        "exchange, 64 connections": {
            "floor": lambda: raw(floor.exchanges(lookup_floor, _LANES, seconds)),
            "engine": lambda: engine(sequences.LOOKUP, _LANES),
        },
        "exchange, 1 connection": {
            "floor": lambda: raw(floor.exchanges(lookup_floor, 1, seconds)),
            "engine": lambda: engine(sequences.LOOKUP, 1),
        },
        "connect, bind, close": {
            "floor": lambda: raw(floor.exchanges(bind_floor, _LANES, seconds, reconnects=True)),
            "engine": lambda: engine(sequences.CONNECT, _LANES),
        },
    }


def _table(rates: Mapping[str, _Rates], repeats: int) -> Table:
    from sitebench.tables.table import Table

    columns = ("What", "floor/s", "its us/op", "engine/s", "its us/op", "engine's share")
    rows = []
    for comparison, values in rates.items():
        share = values["engine_per_s"] / values["floor_per_s"] if values["floor_per_s"] else 0.0
        rows.append(
            [
                comparison,
                units.format_rate(values["floor_per_s"]),
                f"{values['floor_cpu_us']:.2f} + {values['floor_server_cpu_us']:.2f}",
                units.format_rate(values["engine_per_s"]),
                f"{values['engine_cpu_us']:.2f} + {values['engine_server_cpu_us']:.2f}",
                f"{share:.0%}",
            ]
        )
    title = f"This machine's floor, medians of {repeats}; us/op: CPU time of client + server"
    return Table(title, columns, rows)


@contextlib.contextmanager
def running_engine(
    options: IlsOptions, target: OpenDirectory, sequence: Script, lanes: int
) -> Iterator[Engine]:
    from ils_bench.points import POINTS
    from ils_bench.targets.journal import FIRST_ADDED
    from sitebench._engine import Engine
    from sitebench.suite_base.points import Load
    from sitebench.system.native_errors import translated

    load = Load(options, target, [sequence], first_added=FIRST_ADDED)
    with translated():
        engine = Engine(*POINTS.for_engine(load))
        engine.start_lanes(sequence.name, lanes)
        try:
            time.sleep(WARMUP_S)
            yield engine
        finally:
            engine.stop()


def engine_alone(
    options: IlsOptions, target: OpenDirectory, sequence: Script, lanes: int, seconds: float
) -> dict[str, float]:
    """Return the rate without recording and monitoring, and the CPU of engine and target."""
    from sitebench.system.machine import cpu_ns

    assert target.pid is not None, "a target of our own has a process"
    with running_engine(options, target, sequence, lanes) as engine:
        start, target_ns = engine.drain(), cpu_ns(target.pid)
        time.sleep(seconds)
        end, target_ns = engine.drain(), cpu_ns(target.pid) - target_ns
    step = next(s for s in end.steps if s.step == sequence.counts)
    succeeded = step.count - sum(step.failures.values())
    took = (end.t1_ns - end.t0_ns) / 1e9
    engine_ns = sum(end.cpu_ns) - sum(start.cpu_ns)
    return {
        "ops_per_s": succeeded / took,
        "cpu_us": engine_ns / max(succeeded, 1) / 1e3,
        "target_cpu_us": target_ns / max(succeeded, 1) / 1e3,
    }
