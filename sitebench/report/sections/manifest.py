"""The facts needed to repeat a measurement."""

from __future__ import annotations

import json
import shlex
from html import escape
from typing import Any

from sitebench.report.model import Report, Run
from sitebench.report.page import Section
from sitebench.tables.html import to_html
from sitebench.tables.table import Row, Table


def section(report: Report) -> Section | None:
    return Section("manifest", "Manifest", "".join(_run(run) for run in report.runs))


def _run(run: Run) -> str:
    command = run.manifest.get("command")
    text = shlex.join(command) if isinstance(command, list) else str(command or "not known")
    return (
        f"<h3>{escape(run.label)}</h3><pre>{escape(text)}</pre>"
        "<details><summary>Environment and settings</summary>"
        f"{to_html(_table(run))}</details>"
    )


def _table(run: Run) -> Table:
    rows: list[Row] = [
        [name, value]
        for key, fact in sorted(run.manifest.items())
        if key not in ("command", "peaks")
        for name, value in _flat(key, fact)
    ]
    return Table(f"Manifest of {run.label}", ("Fact", "Value"), rows, left=2)


def _flat(name: str, fact: Any) -> list[tuple[str, str]]:
    if isinstance(fact, dict):
        return [row for key, value in fact.items() for row in _flat(f"{name}.{key}", value)]
    return [(name, fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False))]
