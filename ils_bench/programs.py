"""What users of a directory repeat: a sequence, or a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Many
from typing import Any, TypeAlias

from ils_bench.sequences import Sequence
from sitebench.errors import BadInput
from sitebench.scenario.script import Script

Program: TypeAlias = Sequence | Script

LOGIN = "login"
"""The operation whose scenario `ils_bench.login` makes."""


def is_login(program: Program) -> bool:
    """Whether a program is that operation, and no file of a user's."""
    return isinstance(program, Script) and program.path == LOGIN


def need_base(programs: Many[Program]) -> bool:
    """Return whether any asks for more than a connection and an identity."""
    return not programs or any(p.needs_base and not _only_binds(p) for p in programs)


def _only_binds(program: Program) -> bool:
    """Return whether a base is no more to a program than text of the DNs that it binds as."""
    return isinstance(program, Script) and program.verbs <= {"bind"} and not program.start["steps"]


def send_passwords(programs: Many[Program]) -> bool:
    """Return whether a scenario file does: its connections bind, or a step of its users does."""
    scripts = (program for program in programs if isinstance(program, Script))
    operations = (operation for script in scripts for operation in script.facts["operations"])
    steps = (step for operation in operations for step in operation["steps"])
    return bind_themselves(programs) or any(step["sends_password"] for step in steps)


def bind_themselves(programs: Many[Program]) -> bool:
    """Return whether a scenario file says who reads: others may not see what its users see."""
    scripts = (program for program in programs if isinstance(program, Script))
    return any(row["binds"] for script in scripts for row in script.facts["connections"])


def assure_bound(programs: Many[Program]) -> None:
    """Raise if an operation would be anonymous: another operation binds on its connection.

    So `--bind-dn` does not bind there, and whose rights the operation has would be by chance.
    """
    for script in (program for program in programs if isinstance(program, Script)):
        bound = {row["name"] for row in script.facts["connections"] if row["binds"]}
        bound |= _bound_by(script.facts["start"])
        operations = script.facts["operations"]
        binding = {name: row["name"] for row in operations for name in _bound_by(row)}
        names = {operation.name for operation in script.operations}
        for operation in (row for row in operations if row["name"] in names):
            uses = {step["on"] for step in operation["steps"]} - bound - _bound_by(operation)
            for name in sorted(uses & binding.keys()):
                raise BadInput(
                    f"{script.path}: {operation['name']} uses the connection {name}, where "
                    f"{binding[name]} binds: --bind-dn does not bind there",
                    f"let {binding[name]} bind on a connection of its own, or {operation['name']} "
                    'begin with { bind = "" }',
                )


def _bound_by(operation: Mapping[str, Any]) -> set[str]:
    """Return the connections that its steps bind on."""
    return {step["on"] for step in operation["steps"] if step["verb"] == "bind"}
