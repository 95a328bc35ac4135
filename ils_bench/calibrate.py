"""`sitebench calibrate`."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console, Group

from benches.command import tell, told
from sitebench import units
from sitebench.tables.tables import new_table, titled


def calibrate(
    repeats: Annotated[int, typer.Option(help="Interleaved repeats.", min=1, metavar="N")] = 3,
    window: Annotated[str, typer.Option(help="Length of one measurement.", metavar="TIME")] = "1s",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure this machine's floor, and the engine's share of it.

    The floor is two raw loops, one thread each side, that trade the bytes of a lookup (104 for
    1,283) over 64 connections and over one, and those of a bind over connections that open and
    close. Nothing on this machine looks people up faster than that over TCP.
    """
    from benches.ils import Bench
    from sitebench.calibrate.ratios import run

    pairs = {
        "exchange, 64 connections": ("floor", "lookup10k"),
        "exchange, 1 connection": ("floor-one", "lookup-one"),
        "connect, bind, close": ("floor-connect", "connect"),
    }
    harness = Bench(units.parse_duration(window))
    with harness.stack:
        needed = {name for pair in pairs.values() for name in pair}
        trials = [trial for trial in harness.trials() if trial.name in needed]
        series = run(trials, repeats, tell)
    told()

    found = {
        what: {
            "floor_per_s": series.median(f"{raw}.ops_per_s") or 0.0,
            "floor_cpu_us": series.median(f"{raw}.cpu_us") or 0.0,
            "engine_per_s": series.median(f"{ours}.ops_per_s") or 0.0,
            "engine_cpu_us": series.median(f"{ours}.cpu_us") or 0.0,
        }
        for what, (raw, ours) in pairs.items()
    }
    if as_json:
        from sitebench.runs.manifest import cpu

        print(json.dumps({"cpu": cpu(), "repeats": repeats, "floor": found}, indent=2))
    else:
        Console().print(_calibration(found, repeats))


def _calibration(found: dict[str, dict[str, float]], repeats: int) -> Group:
    columns = ("What", "floor/s", "client us/op", "engine/s", "engine us/op", "engine's share")
    table = new_table(*columns)
    for what, values in found.items():
        share = values["engine_per_s"] / values["floor_per_s"] if values["floor_per_s"] else 0.0
        table.add_row(
            what,
            units.format_rate(values["floor_per_s"]),
            f"{values['floor_cpu_us']:.2f}",
            units.format_rate(values["engine_per_s"]),
            f"{values['engine_cpu_us']:.2f}",
            f"{share:.0%}",
        )
    return titled(f"This machine's floor, medians of {repeats}", table)
