"""What the commands of every suite share: arguments, and what peak does.

A suite's own `cli.py` has the commands, their examples, and what only it asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.models import ArgumentInfo, OptionInfo

from sitebench import units
from sitebench.errors import BadInput, UnknownValue
from sitebench.measure.options import DEFAULT_SIZES, SIZES_HELP, run_file
from sitebench.options.convert import named
from sitebench.options.spelling import spellings
from sitebench.suite import Suite

if TYPE_CHECKING:
    from sitebench.measure.command import Seeding
    from sitebench.measure.sweep import Stage
    from sitebench.suite_base.points import Points

Sizes = Annotated[
    str | None,
    typer.Option(
        *spellings("entries"),
        help=SIZES_HELP,
        metavar="LIST",
        parser=named(units.parse_sizes, "--entries"),
        rich_help_panel="Entries",
    ),
]
"""Typed as the text that its parser is given; what arrives are numbers."""


def operation_argument(suite: Suite) -> ArgumentInfo:
    names = list(suite.operations)
    found: ArgumentInfo = typer.Argument(
        help=f"One of {', '.join(names)}.", autocompletion=lambda: names, metavar="OPERATION"
    )
    return found


def operations_option(suite: Suite) -> OptionInfo:
    """Make the option that names several operations."""
    names = list(suite.operations)
    found: OptionInfo = typer.Option(
        help=f"Operations, separated by commas: some of {', '.join(names)}.",
        metavar="LIST",
        autocompletion=lambda: names,
        rich_help_panel="Load",
    )
    return found


def parse_operations(suite: Suite, text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    known = f"use some of {', '.join(suite.operations)}"
    if not chosen:
        raise UnknownValue(f"--operations: {text!r} names no operation", known)
    for name in chosen:
        if name not in suite.operations:
            raise UnknownValue(f"--operations: unknown operation {name!r}", known)
    return chosen


def parse_operation(suite: Suite, text: str) -> str:
    if text not in suite.operations:
        known = ", ".join(suite.operations)
        what = f"{text!r} is not one operation" if "," in text else f"unknown operation {text!r}"
        raise UnknownValue(what, f"use one of {known}")
    return text


def sweep_sizes(given: Any, default: Sequence[int] | None) -> list[int]:
    """Return the sizes of a sweep: those given, or the paper's, or the usual ones."""
    return list(dict.fromkeys(given or default or DEFAULT_SIZES))


def refuse_measure(options: Any, paper_s: float) -> None:
    """Raise where --paper and --measure each ask for another window."""
    if options.measure not in (paper_s, type(options).measure):
        asked = units.format_duration(options.measure)
        raise BadInput(
            f"--paper measures {units.format_duration(paper_s)} per point, not --measure {asked}",
            "leave out one of both",
        )


def vary_option() -> OptionInfo:
    """Make the option that names what is varied."""
    found: OptionInfo = typer.Option(
        "--vary",
        help="What is varied, and its values; several times for several factors, each in turn.",
        metavar="FACTOR=LIST",
        rich_help_panel="Load",
    )
    return found


def find_peak(
    suite: Suite,
    options: Any,
    one: Any,
    operation: str,
    points: Points,
    *,
    stage: Callable[[Seeding], Stage],
    afterwards: Callable[[], None] = lambda: None,
) -> None:
    """Search for the peak of an operation; `one` has the options of one of its points."""
    from sitebench.measure.peak import command

    job = command.PeakJob(
        stage=stage,
        point=lambda load: points.point(replace(one, **asdict(load)), operation),
        facts=lambda: points.manifest(one, [getattr(one, "entries", 0)]),
        window_s=one.measure or 0.0,
        default_out=run_file(f"{suite.name}-peak"),
        afterwards=afterwards,
    )
    command.find_peak(options, job)
