"""The tables of a run file; docs/run-file.md describes every column.

The version (`PRAGMA user_version`) is raised when an older reader would misread the file. It is not
raised for additions that readers must ignore: columns, tables, manifest facts, and keys in the JSON
of specifications, results and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sitebench.errors import BadRunFile

_APPLICATION_ID = 0x53424E52

VERSION = 6

CREATE = f"""
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE points (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spec TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'measured', 'done', 'failed')),
    result TEXT, error TEXT, started REAL, finished REAL
) STRICT;
CREATE TABLE steps (
    point INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
    phase TEXT NOT NULL, program TEXT NOT NULL, step TEXT NOT NULL,
    metric TEXT NOT NULL, kind TEXT NOT NULL, value INTEGER NOT NULL, histogram BLOB,
    PRIMARY KEY (point, phase, program, step, metric, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE timeline (
    point INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
    t_ns INTEGER NOT NULL, phase TEXT NOT NULL, program TEXT NOT NULL, step TEXT NOT NULL,
    seconds REAL NOT NULL, lanes INTEGER NOT NULL, count INTEGER NOT NULL,
    failures INTEGER NOT NULL, bytes_out INTEGER NOT NULL, bytes_in INTEGER NOT NULL,
    latency BLOB NOT NULL
) STRICT;
CREATE INDEX timeline_by_point ON timeline (point, t_ns);
CREATE TABLE samples (
    point INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
    t_ns INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, value REAL NOT NULL
) STRICT;
CREATE INDEX samples_by_point ON samples (point, t_ns);
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""

_ACTIVE = (
    "SELECT name FROM sqlite_schema WHERE type IN ('view', 'trigger')"
    " OR (type = 'table' AND sql LIKE 'create virtual%')"
)
"""Views and triggers, which SQLite runs when a table is read or written; no run writes any."""

OTHER_FILE = "name a run file that sitebench wrote"


def refuse_foreign(path: Path, rows: Callable[[str], list[Any]]) -> None:
    """Raise unless a database is a run file that can be read; `rows` queries the database."""
    marks = (rows(f"PRAGMA {name}")[0][0] for name in ("application_id", "user_version"))
    application, version = marks
    if application != _APPLICATION_ID:
        raise BadRunFile(f"{path} is a database of another program", OTHER_FILE)
    if version != VERSION:
        newer = "use the newer sitebench that wrote it"
        older = "measure again, into another file (--out): no release wrote that schema"
        message = f"{path} has schema {version}, this sitebench reads schema {VERSION}"
        raise BadRunFile(message, newer if version > VERSION else older)
    if active := rows(_ACTIVE):
        raise BadRunFile(f"{path} has a view or trigger {active[0][0]!r}", OTHER_FILE)
