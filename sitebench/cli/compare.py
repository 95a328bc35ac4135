"""`sitebench compare`: two runs, or two targets in turn, and whether there is a difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitebench.errors import BadInput, ObjectiveMissed, UnknownValue
from sitebench.system.files import write

if TYPE_CHECKING:
    from sitebench.compare.interleave import Plan, Turn
    from sitebench.compare.runs import Comparison

REPEATS = 10
SLOWER = "slower"


def compare(
    a: Annotated[
        str, typer.Argument(help="Run file; with --interleave, a value for {}.", metavar="A")
    ],
    b: Annotated[str, typer.Argument(help="What is held against A.", metavar="B")],
    *,
    interleave: Annotated[
        str | None,
        typer.Option(
            help="A run or sweep command with {} in it: measure it with A and B in turn.",
            metavar="CMD",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Pairs to measure.", min=5, max=60, metavar="N")
    ] = REPEATS,
    seed: Annotated[
        int, typer.Option(help="Of the draw which of a pair comes first.", min=0, metavar="N")
    ] = 1997,
    out: Annotated[
        str | None,
        typer.Option(help="Run files to write: NAME-a.sitebench, -b.sitebench.", metavar="NAME"),
    ] = None,
    varying: Annotated[
        str,
        typer.Option(help="Options that may differ: they are what is compared.", metavar="LIST"),
    ] = "",
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with both overlaid.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(help="Exit with code 3 when B is this: slower.", metavar="WORD"),
    ] = None,
) -> None:
    """Tell whether B differs from A, by how much, and how sure that is.

    sitebench compare before.sitebench after.sitebench

    sitebench compare ldap://127.0.0.1:3890 ldap://127.0.0.1:3891
    --interleave 'ils run lookup --target {} --entries 10k --measure 2s' --html both.html

    sitebench compare 4 8 --interleave 'ils run lookup --target openldap --threads {}'
    """
    if fail_on not in (None, SLOWER):
        raise UnknownValue(f"unknown word {fail_on!r} for --fail-on", f"use {SLOWER}")
    names = [name.strip().removeprefix("--") for name in varying.split(",") if name.strip()]
    if interleave is not None:
        if names:
            raise BadInput(
                "--varying goes with run files", "with --interleave, what {} changes may differ"
            )
        from sitebench.compare.interleave import plan

        files = _measure(plan(interleave, a, b, repeats=repeats, seed=seed), out)
    elif out is not None:
        raise BadInput("--out goes with --interleave", "leave it out: nothing is measured here")
    else:
        files = Path(a), Path(b)
    _answer(files, names, html, as_json=as_json, fail_on=fail_on)


def _answer(
    files: tuple[Path, Path],
    varying: list[str],
    html: Path | None,
    *,
    as_json: bool,
    fail_on: str | None,
) -> None:
    from rich.console import Console

    from sitebench.compare.runs import compare_runs, read_run

    found = compare_runs(read_run(files[0]), read_run(files[1]), varying)
    if as_json:
        import json

        from sitebench.compare.render import to_json

        print(json.dumps(to_json(found), indent=2))
    else:
        from sitebench.compare.render import show

        show(found, Console())
    if html is not None:
        _write(html, found)
    if fail_on == SLOWER:
        _fail(found)


def _fail(found: Comparison) -> None:
    from sitebench.compare.wording import answer

    slower = [p for p in found.analysis.points if any(r.verdict == SLOWER for r in p.rows)]
    if slower:
        raise ObjectiveMissed("; ".join(map(answer, slower)), "asked for by --fail-on slower")


def _write(path: Path, found: Comparison) -> None:
    from sitebench.compare.page import comparison_page

    write(path, comparison_page(found))
    typer.echo(f"page: {path}", err=True)


def _measure(plan: Plan, out: str | None) -> tuple[Path, Path]:
    """Measure both in turn and return their run files."""
    import datetime as dt

    from sitebench.compare import interleave

    name = out or f"compare-{dt.datetime.now(dt.UTC).strftime('%Y%m%d-%H%M%S')}"
    files = interleave.files(name)
    interleave.prepare(plan, files)
    try:
        _in_turn(plan, files)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or out is None:
            _say(f"what was measured is kept; go on with: {_again(name, given=out is not None)}")
        raise
    return files


def _in_turn(plan: Plan, files: tuple[Path, Path]) -> None:
    """Measure under a bar that names whose turn it is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    from sitebench.compare.interleave import measure

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("", total=2 * plan.repeats)
        begun = iter(range(2 * plan.repeats))

        def tell(turn: Turn) -> None:
            side = turn.side.upper()
            said = f"{side} = {plan.value(turn.side)}, repeat {turn.repeat + 1}"
            bar.update(task, completed=next(begun), description=said)

        measure(plan, files, tell)


def _again(name: str, *, given: bool) -> str:
    import shlex
    import sys

    return shlex.join(["sitebench", *sys.argv[1:], *([] if given else ["--out", name])])


def _say(line: str) -> None:
    typer.echo(line, err=True)
