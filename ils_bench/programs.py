"""What users of a directory repeat: a sequence, or a scenario file."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TypeAlias

from ils_bench.sequences import Sequence
from sitebench.scenario.script import Script

Program: TypeAlias = Sequence | Script


def need_base(programs: Many[Program]) -> bool:
    """Return whether any asks for more than a connection and an identity."""
    return not programs or any(each.needs_base and not _only_binds(each) for each in programs)


def _only_binds(program: Program) -> bool:
    """Return whether a base is no more to a program than text of the DNs that it binds as."""
    return isinstance(program, Script) and program.verbs <= {"bind"} and not program.start["steps"]


def send_passwords(programs: Many[Program]) -> bool:
    """Return whether a scenario file does: its connections bind, or a step of its users does."""
    scripts = (each for each in programs if isinstance(each, Script))
    return bind_themselves(programs) or any("bind" in each.verbs for each in scripts)


def bind_themselves(programs: Many[Program]) -> bool:
    """Return whether a scenario file says who reads: others may not see what its users see."""
    scripts = (each for each in programs if isinstance(each, Script))
    return any(each["binds"] for script in scripts for each in script.facts["connections"])
