from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sitebench.errors import BadInput, NotDecided, ObjectiveMissed
from sitebench.options import option
from sitebench.options.command import argument, command
from sitebench.system.files import write
from sitebench.units import plural

if TYPE_CHECKING:
    from sitebench.compare.interleave import Interleaving, Turn

_SLOWER = "slower"


@dataclass(frozen=True)
class _CompareOptions:
    interleave: str | None = option.text(
        None, "`run` or `sweep` command to measure with A and B in turn, in place of {}.", "CMD"
    )
    restart: str | None = option.text(
        None,
        "Shell command before each measurement, which restarts server {}, or switches one server "
        "to {}.",
        "CMD",
    )
    repeats: int = option.count(10, "Pairs to measure, 5 to 60.", at_least=5, at_most=60)
    seed: int = option.count(1997, "Seed of the random order within each pair.", at_least=0)
    varying: tuple[str, ...] = option.parsed(
        (),
        "Options in which the runs may differ, because they are compared.",
        parse=option.sequence_of(lambda name: name.removeprefix("--")),
        show=option.join_values,
        metavar="LIST",
    )
    out: str | None = option.text(
        None,
        "Run files of --interleave: NAME-a.sitebench and NAME-b.sitebench.",
        "NAME",
        panel="Output",
    )
    html: str | None = option.file("HTML page to write, with both runs overlaid.", panel="Output")
    json: bool = option.flag("JSON instead of tables.", panel="Output")
    quiet: bool = option.flag("Result and errors only: no progress.", panel="Output")
    fail_on: str | None = option.choice(
        None,
        "Result of B that ends the command with exit code 3; 4 if it is not decided.",
        _SLOWER,
        panel="Output",
    )


@command(
    _CompareOptions,
    argument("A", "Run file; with --interleave, a value for {}."),
    argument("B", "Run file or value to compare with A."),
    panel="Results",
)
def compare(options: _CompareOptions, a: str, b: str) -> None:
    """Test whether B differs from A, and estimate the difference.

    sitebench compare ldap://127.0.0.1:3890 ldap://127.0.0.1:3891
    --interleave 'ils run lookup --target {} --entries 10k --measure 2s' --html both.html

    sitebench compare 1 2 --interleave 'ils run lookup --target openldap --threads {}'

    sitebench compare off on --restart './switch-index {}'
    --interleave 'ils run lookup --target ldap://127.0.0.1 --names @people.txt'

    Run files that were not interleaved get a ratio, and an answer only if they differ by more than
    a factor of two:

    sitebench compare before.sitebench after.sitebench
    """
    if options.interleave is not None:
        if options.varying:
            raise BadInput(
                "--varying does not go with --interleave",
                "leave it out: the value of {} may differ",
            )
        from sitebench.compare.interleave import plan

        order = {"repeats": options.repeats, "seed": options.seed}
        turns = plan(options.interleave, a, b, restart=options.restart, **order)
        decides = options.fail_on is not None
        files = _measure(turns, options.out, decides=decides, quiet=options.quiet)
    elif options.out is not None or options.restart is not None:
        name = "--out" if options.restart is None else "--restart"
        raise BadInput(
            f"{name} needs --interleave",
            "leave it out: run files are compared without a measurement",
        )
    else:
        files = Path(a), Path(b)

    from sitebench.compare.runs import compare_runs, read_run
    from sitebench.measure.command import say

    comparison = compare_runs(read_run(files[0]), read_run(files[1]), options.varying)
    if options.json:
        import json

        from sitebench.compare.render import to_json

        print(json.dumps(to_json(comparison), indent=2))
    else:
        from sitebench.compare.render import show
        from sitebench.tables.terminal import results_console

        show(comparison, results_console())
    if options.html is not None:
        from sitebench.compare.page import comparison_page

        write(Path(options.html), comparison_page(comparison))
        if not options.quiet:
            say(f"page: {options.html}")
    if options.fail_on == _SLOWER:
        from sitebench.compare.wording import answer

        if slower := [point for point in comparison.analysis.points if point.slower]:
            raise ObjectiveMissed("; ".join(map(answer, slower)), "--fail-on slower was given")
        if comparison.undecided:
            raise NotDecided(
                f"cannot tell whether B is slower: {comparison.undecided}",
                "--fail-on slower needs a comparison of every point: measure the missing ones",
            )


def _measure(
    plan: Interleaving, out: str | None, *, decides: bool, quiet: bool
) -> tuple[Path, Path]:
    import datetime as dt

    from sitebench.compare import interleave
    from sitebench.measure.command import say
    from sitebench.monitor.others import other_programs

    name = out or f"compare-{dt.datetime.now(dt.UTC).strftime('%Y%m%d-%H%M%S')}"
    files = interleave.files(name)
    interleave.prepare(plan, files)
    if not quiet and (programs := other_programs()).disturb:
        say(f"note {programs}")
    try:
        _in_turn(plan, files, decides=decides, quiet=quiet)
    except BaseException as error:
        is_interrupt = isinstance(error, KeyboardInterrupt)
        if is_interrupt or (out is None and not isinstance(error, BadInput)):
            say(f"results so far are kept; resume with: {_again(name, has_name=out is not None)}")
        raise
    return files


def _in_turn(plan: Interleaving, files: tuple[Path, Path], *, decides: bool, quiet: bool) -> None:
    """Measure with a progress bar; if standard error is no terminal, print a line per turn."""
    from sitebench.compare.interleave import measure
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar

    total = 2 * plan.repeats
    begun = iter(range(total))
    with bar("", total, quiet=quiet) as move:

        def show_turn(turn: Turn) -> None:
            value = plan.value(turn.side)
            description = f"{turn.side.upper()} = {value}, repeat {turn.repeat + 1}"
            move(n := next(begun), description)
            if not (quiet or sys.stderr.isatty()):
                say(f".. {n + 1}/{total} {description}")
            if decides and n == 1:
                _warn_of_too_few(plan.repeats, files)

        measure(plan, files, show_turn)


def _warn_of_too_few(repeats: int, files: tuple[Path, Path]) -> None:
    """Warn if the repeats are too few, once the number of points is known."""
    from sitebench.compare.comparison import repeats_to_tell
    from sitebench.measure.command import say
    from sitebench.runs.repeats import series
    from sitebench.runs.runfile import RunFile

    for path in files:
        with RunFile(path) as file:
            results = file.results()
            points = sum(point.spec.repeat == 0 for point in file.points())
        if results and (least := repeats_to_tell(points, series(results[:1])[0])) > repeats:
            count = plural(points, "point")
            say(f"with {repeats} repeats of {count}, B cannot pass: that needs --repeats {least}")


def _again(name: str, *, has_name: bool) -> str:
    import shlex

    return shlex.join(["sitebench", *sys.argv[1:], *([] if has_name else ["--out", name])])
