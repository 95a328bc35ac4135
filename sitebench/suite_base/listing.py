"""A suite's own operations, which are scenario files: all of them, or the text of one."""

from __future__ import annotations

import json
from collections.abc import Callable

from sitebench._engine import Scenario
from sitebench.errors import UnknownValue
from sitebench.suite import Suite
from sitebench.tables.console import results_console
from sitebench.tables.tables import new_table


def show_operations(suite: Suite, text_of: Callable[[str], str], name: str | None) -> None:
    """Print what a suite's operations are, or the file of the one that is named."""
    if name is None:
        table = new_table("Operation", "Title", "Of", left=3)
        for each in suite.operations:
            facts = json.loads(Scenario(text_of(each)).facts)
            table.add_row(each, facts["title"], facts["paper"])
        results_console().print(table)
        return
    if name not in suite.operations:
        raise UnknownValue(f"{name!r} is no operation", f"use one of {', '.join(suite.operations)}")
    print(text_of(name), end="")
