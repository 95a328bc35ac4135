"""What users of a directory repeat: a sequence, or a scenario file."""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import TypeAlias

from ils_bench.sequences import Sequence
from sitebench.scenario.script import Script

Program: TypeAlias = Sequence | Script


def need_base(programs: Many[Program]) -> bool:
    """Return whether any asks for more than a connection and an identity."""
    return not programs or any(each.needs_base for each in programs)


def read_base(programs: Many[Program]) -> bool:
    """Return whether any asks for entries: where all only bind, the base is but text of a DN."""
    scripts = [each for each in programs if isinstance(each, Script) and not each.start["steps"]]
    binding = [each for each in scripts if each.verbs <= {"bind"}]
    return not programs or len(binding) < len(programs)


def bind_themselves(programs: Many[Program]) -> bool:
    """Return whether a scenario file says who reads: others may not see what its users see."""
    scripts = (each for each in programs if isinstance(each, Script))
    return any(each["binds"] for script in scripts for each in script.facts["connections"])
