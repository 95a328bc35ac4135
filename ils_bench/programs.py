"""What users of a directory repeat: a sequence, or a scenario file."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import Any, TypeAlias

from ils_bench import quick
from ils_bench.sequences import Sequence
from sitebench.scenario.script import Script, made, name_of, read

Program: TypeAlias = Sequence | Script


def script_name(options: Any) -> str | None:
    """Return what the scenario that options name or describe is called; None without one.

    Options may be Locust's own, in which what was not given is an empty text.
    """
    return name_of(options.scenario) if options.scenario else quick.name_of(options)


def script_of(options: Any) -> Script | None:
    """Return that scenario; raises what is wrong with it."""
    if options.scenario is not None:
        return read(options.scenario, options.data)
    name = quick.name_of(options)
    return None if name is None else made(name, quick.text_of(options))


def need_base(programs: Many[Program]) -> bool:
    """Return whether any asks for more than a connection and an identity."""
    return not programs or any(each.needs_base for each in programs)


def bind_themselves(programs: Many[Program]) -> bool:
    """Return whether a scenario file says who reads: others may not see what its users see."""
    scripts = (each for each in programs if isinstance(each, Script))
    return any(each["binds"] for script in scripts for each in script.facts["connections"])
