"""What `sitebench ils operations` shows: the suite's own operations, or the file of one."""

from __future__ import annotations

import json
from typing import Any

from ils_bench import quick, sequences
from ils_bench.suite import SUITE
from sitebench._engine import Scenario
from sitebench.errors import UnknownValue
from sitebench.tables.console import results_console
from sitebench.tables.tables import new_table


def show(options: Any, name: str | None) -> None:
    """Print all operations, or the file of one; one that options describe has one, too."""
    described = quick.name_of(options)
    if described is not None and name in (None, described):
        print(quick.text_of(options), end="")
        return
    if name is None:
        table = new_table("Operation", "Title", "Of", left=3)
        for each in SUITE.operations:
            facts = json.loads(Scenario(sequences.text_of(each, options.profile)).facts)
            table.add_row(each, facts["title"], facts["paper"])
        results_console().print(table)
        return
    if name not in SUITE.operations:
        raise UnknownValue(f"{name!r} is no operation", f"use one of {', '.join(SUITE.operations)}")
    print(sequences.text_of(name, options.profile), end="")
