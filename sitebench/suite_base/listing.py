"""List of the operations of a suite, or the scenario file of one."""

from __future__ import annotations

import json
from collections.abc import Callable

from sitebench._engine import Scenario
from sitebench.errors import UnknownValue
from sitebench.suite import Suite
from sitebench.tables.console import show
from sitebench.tables.table import Table


def show_operations(suite: Suite, text_of: Callable[[str], str], name: str | None) -> None:
    if name is None:
        facts = {key: json.loads(Scenario(text_of(key)).facts) for key in suite.operations}
        rows = [[key, fact["title"], fact["paper"] or ""] for key, fact in facts.items()]
        show([Table("", ("Operation", "Title", "Of"), rows, left=3)])
        return
    if name not in suite.operations:
        raise UnknownValue(f"{name!r} is no operation", f"use one of {', '.join(suite.operations)}")
    print(text_of(name), end="")
