"""Check that the measured window is long enough for passes with think times."""

from __future__ import annotations

import math
from collections.abc import Sequence as Many

from ils_bench.options import IlsOptions
from sitebench.counts.source import SEQUENCE
from sitebench.errors import BadInput
from sitebench.scenario.script import Script
from sitebench.units import format_duration, format_rate, plural


def check(options: IlsOptions, programs: Many[Script]) -> None:
    """Raise if think times are so long that no pass would be counted."""
    thinking = [program for program in programs if program.counts == SEQUENCE and program.least_s]
    if not thinking or len(thinking) < len(programs):
        return
    program = min(thinking, key=lambda program: program.least_s)
    least, name = program.least_s, program.name
    long, session = format_duration(least), "give its users a shorter one, such as --session 5s"
    measure = options.measure
    if measure is not None and least > measure:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and the measured window is "
            f"{format_duration(measure)} long: none would be counted",
            f"{session}, or measure longer: --measure {format_duration(2 * least)}",
        )
    if options.rate is None:
        return
    # Stages count passes by their due time, from the first on.
    if options.stages is None and least > options.warmup:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and the warm-up is "
            f"{format_duration(options.warmup)}: in the window's beginning none would end",
            f"{session}, or warm up longer: --warmup {long}",
        )
    if least > options.timeout:
        raise BadInput(
            f"a pass of {name!r} takes {long} (--session), and is waited for for "
            f"{format_duration(options.timeout)} (--timeout): those that begin late would fail",
            f"{session}, or wait longer: --timeout {format_duration(2 * least)}",
        )
    rate = options.rate if options.stages is None else options.stages.highest
    if 0 < options.users < (needed := math.ceil(rate * least)):
        raise BadInput(
            f"{plural(options.users, 'user')} cannot begin {format_rate(rate)} passes of {name!r} "
            f"a second: each takes {long} (--session), so {needed:,} are under way at once",
            f"have --users {math.ceil(1.5 * needed)}, or a lower --rate",
        )
