"""The run file: all data of a report, in one SQLite database.

`sitebench.runs.schema` has its tables; docs/run-file.md describes every column.

The file is in WAL mode: it is readable while a run goes on, and after a kill it contains every
finished point. One transaction writes the totals and the result of a point (status `measured`, by
the process that measured); another confirms them (`done`, by the sweep, after a check that the
target is alive). A resumed run measures again every point that is not `done`.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts.metrics import BYTES_IN, BYTES_OUT, LATENCY
from sitebench.counts.source import Drained, StepRecord
from sitebench.counts.tally import Tally
from sitebench.errors import BadRunFile, CannotRecord, SitebenchError
from sitebench.monitor.sample import Row
from sitebench.runs import schema, steps
from sitebench.runs.point import PointResult, PointSpec
from sitebench.system.closing import Closing
from sitebench.system.files import lock_holder

_WHOLE_S = 0.4
"""A drain takes half a second; a drain shorter than this was cut short by a change of phase."""

_COUNTED = "counted"
"""Manifest fact while a point runs: the point's key and its counted (program, step) pairs."""

_LONGEST_NAME = 512 - len("-journal") - 1
"""Longest name of a run file: SQLite adds an ending (MAX_PATHNAME of its os_unix.c)."""

_REMEDIES = {
    sqlite3.SQLITE_FULL: "free space, then run the same command again: measured points are kept",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable, or name another with --out",
    sqlite3.SQLITE_BUSY: "wait until the other program that writes to it has ended",
}


class RunStore(Closing):
    """One open run file; only one command and its own processes (`joins`) write to it."""

    def __init__(self, path: Path | str, *, create: bool = True, joins: bool = False) -> None:
        self.path = Path(path)
        self._attempts: dict[int, float] = {}
        self._lock = -1
        if not create and not self.path.is_file():
            raise BadRunFile(f"no run file at {self.path}", "check the name")
        try:
            self._db = sqlite3.connect(self.path, timeout=10.0, isolation_level=None)
        except sqlite3.Error as error:
            if (length := len(os.fsencode(self.path.absolute()))) > _LONGEST_NAME:
                raise BadRunFile(
                    f"the name of the run file has {length} bytes with its folders, and SQLite "
                    f"takes {_LONGEST_NAME}",
                    "name a file in another folder with --out",
                ) from error
            raise BadRunFile(
                f"cannot open run file {self.path}: {error}",
                "name a file in a writable folder",
            ) from error
        try:
            if not joins:
                self._lock_alone()
            self._open()
        except CannotRecord as error:
            self.close()
            raise BadRunFile(error.message, error.remedy) from error
        except BaseException:
            self.close()
            raise

    def _lock_alone(self) -> None:
        """Refuse a file that another command writes to.

        The lock of flock(2) ends with its process; it is independent of SQLite's locks (fcntl(2)).
        """
        try:
            self._lock = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            writer = lock_holder(self._lock)
            raise BadRunFile(
                f"another command writes to {self.path}"
                + ("" if writer is None else f" (process {writer})"),
                "wait until it has ended, or name another file with --out",
            ) from error
        except OSError:
            # If the file cannot be opened, SQLite reports the cause next. On a file system without
            # such locks, as some network file systems, the file is not locked.
            return

    def _open(self) -> None:
        self._rows("PRAGMA trusted_schema = OFF")
        self._rows("PRAGMA foreign_keys = ON")
        with self._transaction():
            if not self._rows("SELECT 1 FROM sqlite_schema LIMIT 1"):
                # `executescript` would end the transaction.
                for statement in filter(str.strip, schema.CREATE.split(";\n")):
                    self._db.execute(statement)
            schema.refuse_foreign(self.path, self._rows)
        # A foreign database must not be changed: WAL mode comes after the checks.
        self._rows("PRAGMA journal_mode = WAL")
        self._rows("PRAGMA synchronous = NORMAL")

    def _rows(self, query: str, *values: Any) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            # With a full disk, SQLite has rolled back already.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise self._refusal(error) from error
            raise

    def _refusal(self, error: sqlite3.Error) -> SitebenchError:
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if kind in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return BadRunFile(
                f"{self.path} is not a run file of sitebench, or is damaged: {error}",
                "name another file with --out",
            )
        remedy = _REMEDIES.get(kind, "check the disk of this file, then run the same command again")
        return CannotRecord(f"cannot write run file {self.path}: {error}", remedy)

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        self._db.close()
        # This lock is closed after SQLite: SQLite's locks would end as soon as the process closes
        # any descriptor of the file.
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def set_manifest(self, facts: Mapping[str, Any]) -> None:
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO manifest VALUES (?, ?)", rows)

    def manifest(self) -> dict[str, Any]:
        rows = self._rows("SELECT key, value FROM manifest")
        return {key: json.loads(value) for key, value in rows}

    def add_target(self, facts: Mapping[str, Any]) -> None:
        """Add the facts of an opened target to the fact `targets`, unless it has them already."""
        targets = self.manifest().get("targets", [])
        if facts not in targets:
            self.set_manifest({"targets": [*targets, dict(facts)]})

    def add_scenarios(self, texts: Mapping[str, str]) -> None:
        """Add texts of scenario files to the fact `scenarios`, by their digests."""
        if texts:
            self.set_manifest({"scenarios": {**self.manifest().get("scenarios", {}), **texts}})

    def plan(self, specs: Iterable[PointSpec]) -> None:
        rows = [(spec.key, spec.stored()) for spec in specs]
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO points (key, spec) VALUES (?, ?)", rows)

    def status(self, spec: PointSpec) -> str | None:
        rows = self._rows("SELECT status FROM points WHERE key = ?", spec.key)
        return str(rows[0][0]) if rows else None

    def result(self, spec: PointSpec, *statuses: str) -> PointResult | None:
        """Return a point's result if it has one of these statuses (by default `done`)."""
        rows = self._rows("SELECT status, result FROM points WHERE key = ?", spec.key)
        if not rows or rows[0][0] not in (statuses or ("done",)):
            return None
        return PointResult.read(json.loads(rows[0][1]))

    def results(self) -> list[PointResult]:
        rows = self._rows("SELECT result FROM points WHERE status = 'done' ORDER BY id")
        return [PointResult.read(json.loads(row[0])) for row in rows]

    def begin(self, spec: PointSpec) -> None:
        """Mark a point as running, and delete the data of an interrupted attempt."""
        self.plan([spec])
        point, now = self.point_id(spec.key), time.time()
        self._attempts[point] = now
        with self._transaction():
            for table in ("steps", "timeline", "samples"):
                self._db.execute(f"DELETE FROM {table} WHERE point = ?", (point,))
            self._db.execute(
                "UPDATE points SET status = 'running', result = NULL, error = NULL, started = ?,"
                " finished = NULL WHERE id = ?",
                (now, point),
            )

    def last_begun(self) -> float | None:
        """Return the start of the point that began last; None before the first."""
        started: list[tuple[float | None]] = self._rows("SELECT max(started) FROM points")
        return started[0][0]

    def point_id(self, key: str) -> int:
        return int(self._value_of("id", key))

    def join(self, key: str) -> int:
        """Return the row of a point; records to the row fail if the point is begun again."""
        point = self.point_id(key)
        self._attempts[point] = self._value_of("started", key)
        return point

    def _is_superseded(self, point: int) -> bool:
        """Return whether a sweep has begun a point again since this process joined it.

        That happens if the sweep is killed, and is resumed before this process notices.
        """
        own_start = self._attempts.get(point)
        now = self._rows("SELECT started FROM points WHERE id = ?", point)
        return own_start is not None and now != [(own_start,)]

    @contextmanager
    def _recording(self, point: int) -> Iterator[None]:
        with self._transaction():
            if self._is_superseded(point):
                raise CannotRecord(
                    f"another sweep measures this point of {self.path} now",
                    "wait until that sweep has ended",
                )
            yield

    def spec(self, key: str) -> PointSpec:
        return PointSpec.read(self._value_of("spec", key))

    def _value_of(self, column: str, key: str) -> Any:
        rows = self._rows(f"SELECT {column} FROM points WHERE key = ?", key)
        if not rows:
            raise BadRunFile(f"{self.path} has no point {key}", "plan the point first")
        return rows[0][0]

    def append(
        self,
        point: int,
        phase: str,
        drained: Drained,
        late: Iterable[tuple[str, Drained, Iterable[StepRecord]]] = (),
    ) -> None:
        """Add one drain to a point's timeline.

        Operations that ended `late` are added to the last drain of their phase: a window keeps its
        length, however long its last answers take.
        """
        rows = [
            (
                point,
                when.t1_ns,
                name,
                step.program,
                step.step,
                (when.t1_ns - when.t0_ns) / 1e9,
                when.lanes,
                step.count,
                sum(step.failures.values()),
                step.counters[BYTES_OUT],
                step.counters[BYTES_IN],
                step.clocks[LATENCY].to_bytes(),
            )
            for name, when, steps in ((phase, drained, drained.steps), *late)
            for step in steps
        ]
        with self._recording(point):
            self._db.executemany(
                "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )

    def append_sample(self, point: int, t_ns: int, rows: Iterable[Row]) -> None:
        with self._recording(point):
            self._db.executemany(
                "INSERT INTO samples VALUES (?, ?, ?, ?, ?)", [(point, t_ns, *row) for row in rows]
            )

    def set_aside(self, point: int, phase: str, other: str) -> None:
        with self._recording(point):
            self._db.execute(
                "UPDATE timeline SET phase = ? WHERE point = ? AND phase = ?", (other, point, phase)
            )

    def respecify(self, earlier: PointSpec, now: PointSpec) -> None:
        """Change the specification of a point: a user may change the load of a running test."""
        with self._transaction():
            self._db.execute(
                "UPDATE points SET key = ?, spec = ? WHERE key = ?",
                (now.key, now.stored(), earlier.key),
            )

    def latencies(self, point: int, phase: str, steps: Set[tuple[str, str]]) -> list[Histogram]:
        """Return the latencies of each drain of a phase, of all these (program, step) pairs."""
        latencies: dict[int, Histogram] = {}
        for t_ns, program, step, latency in self._rows(
            "SELECT t_ns, program, step, latency FROM timeline WHERE point = ? AND phase = ?"
            " ORDER BY t_ns",
            point,
            phase,
        ):
            if (program, step) in steps:
                latencies.setdefault(t_ns, Histogram()).add(Histogram.from_bytes(latency))
        return list(latencies.values())

    def complete(self, point: int, tallies: Mapping[str, Tally], result: PointResult) -> None:
        """Write a point's totals and result in one transaction; its status becomes `measured`."""
        rows = [
            (point, phase, totals.program, totals.step, *row)
            for phase, tally in tallies.items()
            for totals in tally.due.values()
            for row in steps.rows(totals)
        ]
        with self._recording(point):
            self._db.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._db.execute(
                "UPDATE points SET status = 'measured', result = ? WHERE id = ?",
                (json.dumps(result.to_json()), point),
            )

    def confirm(self, spec: PointSpec) -> None:
        """Mark a measured point as done, after a check that its target is alive."""
        with self._transaction():
            self._db.execute(
                "UPDATE points SET status = 'done', finished = ?"
                " WHERE key = ? AND status = 'measured'",
                (time.time(), spec.key),
            )
            self._db.execute("DELETE FROM manifest WHERE key = ?", (_COUNTED,))

    def fail(self, key: str, error: Mapping[str, str]) -> None:
        """Mark a point as failed, with the kind, message and remedy of its error."""
        with self._transaction():
            if self._is_superseded(self.point_id(key)):
                return
            self._db.execute(
                "UPDATE points SET status = 'failed', error = ?, finished = ? WHERE key = ?",
                (json.dumps(error), time.time(), key),
            )

    def failure(self, key: str) -> dict[str, str] | None:
        rows = self._rows("SELECT error FROM points WHERE key = ? AND status = 'failed'", key)
        return json.loads(rows[0][0]) if rows else None

    def count(self, key: str, steps: Iterable[tuple[str, str]]) -> None:
        """Store which (program, step) pairs count as operations of a point, until it is done."""
        self.set_manifest({_COUNTED: {key: [*map(list, steps)]}})

    def latest(self, key: str) -> tuple[str, str, float] | None:
        """Return the phase, the counted steps and the rate of a running point's last whole drain.

        Drains that a change of phase cut short are skipped: the change disturbs them.
        """
        counted = self.manifest().get(_COUNTED, {}).get(key, [])
        values = ", ".join(["(?, ?)"] * len(counted))
        condition = f"(program, step) IN (VALUES {values})" if counted else "step <> 'sequence'"
        rows = self._rows(
            "SELECT phase, iif(count(*) > 1, 'operations', step), sum(count / seconds)"
            " FROM timeline"
            " JOIN points ON points.id = point"
            f" WHERE key = ? AND seconds >= ? AND {condition}"
            " GROUP BY t_ns ORDER BY t_ns DESC LIMIT 1",
            key,
            _WHOLE_S,
            *(name for step in counted for name in step),
        )
        return rows[0] if rows else None
