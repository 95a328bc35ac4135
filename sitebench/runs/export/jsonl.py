"""JSON Lines: a whole run file as text, and the same run file back.

The first line names the schema, the last one counts the lines between: each is one row, with its
table's name and every column. What the file keeps as JSON is JSON here; a histogram is the base64
of its HdrHistogram V2 encoding, which is what HdrHistogram's other tools call compressed.

    {"sitebench": "run", "schema": 2}
    {"table": "manifest", "key": "target", "value": "embedded"}
    ...
    {"sitebench": "end", "rows": 1234}
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sitebench._engine import Histogram
from sitebench.errors import BadFile
from sitebench.runs import schema
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore

TABLES = ("manifest", "points", "steps", "timeline", "samples")
"""In the order in which they refer to each other."""

_JSON = {("manifest", "value"), ("points", "spec"), ("points", "result"), ("points", "error")} | {
    ("steps", "failures")
}
_BLOBS = {("timeline", "latency")} | {
    ("steps", clock) for clock in ("service", "latency", "lag", "censored")
}
_REMEDY = "export the run again"


def write(run: RunFile) -> Iterator[str]:
    """Yield every row of a run file as a line."""
    yield json.dumps({"sitebench": "run", "schema": run.version})
    count = 0
    for table in TABLES:
        for row in run.rows(table):
            values = {name: _shown(table, name, value) for name, value in row.items()}
            yield json.dumps({"table": table, **values})
            count += 1
    yield json.dumps({"sitebench": "end", "rows": count})


def _shown(table: str, column: str, value: Any) -> Any:
    if value is None:
        return None
    if (table, column) in _JSON:
        return json.loads(value)
    return base64.b64encode(value).decode() if (table, column) in _BLOBS else value


def read(lines: Iterable[str], name: str, out: Path) -> None:
    """Write the run file that the lines tell of; nothing of it stays when one is wrong."""
    numbered = iter(enumerate(lines, 1))
    _check_header(_object(next(numbered, (1, ""))[1], name, 1), name)
    with RunStore(out) as store, store.restoring() as insert:
        count = 0
        for number, line in numbered:
            found = _object(line, name, number)
            if found == {"sitebench": "end", "rows": count}:
                return
            try:
                table = found.pop("table")
                insert(table, {key: _kept(table, key, value) for key, value in found.items()})
            except (ValueError, KeyError, TypeError, sqlite3.IntegrityError) as error:
                raise BadFile(
                    f"{name}, line {number} is no row of a run file: {error!r}", _REMEDY
                ) from error
            count += 1
        raise BadFile(f"{name} ends after {count:,} rows and is not whole", _REMEDY)


def _check_header(found: dict[str, Any], name: str) -> None:
    version = found.get("schema")
    if found.get("sitebench") != "run" or not isinstance(version, int):
        raise BadFile(f"{name}: these JSON Lines are not of a run file", _REMEDY)
    if version > schema.VERSION:
        raise BadFile(
            f"{name} has schema {version}, this sitebench reads up to {schema.VERSION}",
            schema.NEWER_SITEBENCH,
        )


def _object(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise BadFile(f"{name}, line {number} is no JSON: {error}", _REMEDY) from error
    if not isinstance(found, dict):
        raise BadFile(f"{name}, line {number} is no JSON object", _REMEDY)
    return found


def _kept(table: str, column: str, value: Any) -> Any:
    """Return a value as the run file keeps it; raises when it could not be read from there."""
    if (table, column) == ("manifest", "value"):
        return json.dumps(value)
    if value is None:
        return None
    if (table, column) in _BLOBS:
        encoded = base64.b64decode(value, validate=True)
        Histogram.from_bytes(encoded)
        return encoded
    if (table, column) == ("points", "spec"):
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
        PointSpec.read(text)
        return text
    if (table, column) == ("points", "result"):
        PointResult.read(value)
    return json.dumps(value) if (table, column) in _JSON else value
