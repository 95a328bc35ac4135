"""Properties of directory scenarios: whether they bind, and with which identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sitebench.errors import BadInput
from sitebench.scenario.script import Script

LOGIN = "login"
"""Name of the operation that `ils_bench.login` makes."""


def is_login(program: Script) -> bool:
    return program.path == LOGIN


def need_base(programs: Sequence[Script]) -> bool:
    # If a program uses the base in bind DNs only, the base need not exist.
    return not programs or any(
        program.needs_base and (program.verbs - {"bind"} or program.start["steps"])
        for program in programs
    )


def send_passwords(programs: Sequence[Script]) -> bool:
    operations = (operation for program in programs for operation in program.facts["operations"])
    steps = (step for operation in operations for step in operation["steps"])
    return bind_themselves(programs) or any(step["sends_password"] for step in steps)


def bind_themselves(programs: Sequence[Script]) -> bool:
    """Return whether a connection binds as an identity of the scenario file."""
    return any(row["binds"] for program in programs for row in program.facts["connections"])


def assure_bound(programs: Sequence[Script]) -> None:
    """Raise if an operation runs on a connection that another operation binds.

    `--bind-dn` does not bind such a connection, so the operation's rights would depend on chance.
    """
    for script in programs:
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
    return {step["on"] for step in operation["steps"] if step["verb"] == "bind"}
