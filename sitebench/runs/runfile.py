"""A run file as reports read it: never created or changed, even while the run goes on.

A `RunFile` shows the state of the file at its opening, so that all figures of a report agree. In
WAL mode, SQLite writes files beside a database even when it only reads. So the way of opening
depends on these files:

- If there are a log (`-wal`) and its index (`-shm`), a run goes on, or was killed. SQLite reads
  with locks.
- If there is no log, the run ended, or the file was copied without its log. SQLite reads without
  locks; if the run is resumed meanwhile, the query is repeated.
- If there is a log without its index, the file was copied with its log. SQLite reads a private
  copy, and can write an index beside it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sitebench.counts.source import StepTotals
from sitebench.errors import BadRunFile, printable
from sitebench.runs import schema, steps
from sitebench.runs.point import PointResult, PointSpec
from sitebench.system.closing import Closing
from sitebench.system.scratch import scratch

_MAGIC = b"SQLite format 3\0"
_BEGIN = "BEGIN"
_NOT_AS_WRITTEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""Errors of reading a value that no run can have written; msgspec's errors are ValueErrors."""
_DAMAGED = "it may be truncated: copy it again, with the -wal file beside it where there is one"


class StoredPoint(msgspec.Struct, frozen=True):
    """One point: its specification, its status, and its result.

    A point that failed after its window has both a result and an error.
    """

    id: int
    spec: PointSpec
    status: str
    result: PointResult | None
    error: dict[str, str] | None
    started: float | None
    finished: float | None


class TimelineRow(NamedTuple):
    """The operations of one step between two drains; `latency` is an encoded histogram."""

    point: int
    t_ns: int
    phase: str
    program: str
    step: str
    seconds: float
    lanes: int
    count: int  # type: ignore[assignment]  # a column's name, and a tuple's method
    failures: int
    bytes_out: int
    bytes_in: int
    latency: bytes


class SampleRow(NamedTuple):
    point: int
    t_ns: int
    who: str
    what: str
    value: float


class RunFile(Closing):
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._look()
        self._copy = contextlib.ExitStack()
        self._db: sqlite3.Connection | None = None
        self._unlocked: tuple[int, ...] | None = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        """Refuse other files before SQLite opens them: its messages would not help a user."""
        try:
            if not self.path.exists():
                raise BadRunFile(f"no run file at {self.path}", "check the name")
            if not self.path.is_file():
                raise BadRunFile(f"{self.path} is not a file", schema.OTHER_FILE)
            with self.path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except OSError as error:
            raise BadRunFile(
                f"cannot read {self.path}: {error.strerror}", "name a readable file"
            ) from error
        if not head:
            raise BadRunFile(f"{self.path} is empty", schema.OTHER_FILE)
        if head != _MAGIC:
            raise BadRunFile(f"{self.path} is not a run file of sitebench", schema.OTHER_FILE)

    def _open(self) -> None:
        place, self._unlocked = self.path.resolve(), None
        if not _size(_sibling(place, "-wal")):
            self._unlocked = self._stamp()
            self._db = _connect(place, "immutable=1")
        elif _sibling(place, "-shm").exists():
            self._db = _connect(place, "mode=ro")
        else:
            try:
                self._db = _connect(self._copy_to_scratch(place), "mode=ro")
            except FileNotFoundError:
                # The writer has closed the file meanwhile: the log is part of the file now.
                self._open()
                return
        # One transaction until the end shows one state of the file. Views and generated columns of
        # a foreign file must not call functions with side effects.
        self._rows("PRAGMA trusted_schema = OFF")
        self._rows("PRAGMA cell_size_check = ON")
        self._rows(_BEGIN)
        self._rows("SELECT count(*) FROM sqlite_schema")
        schema.refuse_foreign(self.path, self._rows)
        pages = self._rows("PRAGMA page_count")[0][0] * self._rows("PRAGMA page_size")[0][0]
        if self._unlocked and _size(place) < pages:
            raise self._damage(f"{_size(place):,} bytes of {pages:,}")

    def _copy_to_scratch(self, place: Path) -> Path:
        folder = self._copy.enter_context(scratch())
        for end in ("", "-wal"):
            shutil.copyfile(_sibling(place, end), folder / f"run{end}")
        return folder / "run"

    def _stamp(self) -> tuple[int, ...]:
        """Return values that change with each write to the file, which is read without locks."""
        stat = self.path.stat()
        log = _size(_sibling(self.path.resolve(), "-wal"))
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, log

    def _rows(self, query: str, *values: Any) -> list[Any]:
        assert self._db is not None
        try:
            rows = self._db.execute(query, values).fetchall()
            error: Exception | None = None
        except (sqlite3.Error, UnicodeDecodeError) as raised:
            rows, error = [], raised
        if self._unlocked is not None and self._unlocked != self._stamp():
            self.close()
            self._open()
            # `_open` began a transaction already.
            return [] if query == _BEGIN else self._rows(query, *values)
        if error is not None:
            raise self._damage(str(error)) from error
        return rows

    def _damage(self, reason: str) -> BadRunFile:
        return BadRunFile(f"{self.path} is damaged: {reason}", _DAMAGED)

    @contextlib.contextmanager
    def reading(self, part: str) -> Iterator[None]:
        """Raise BadRunFile for a value that no run can have written."""
        try:
            yield
        except _NOT_AS_WRITTEN as error:
            raise self._damage(f"{part} cannot be read ({error!r})") from error

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        if self._db is not None:
            self._db.close()
        self._copy.close()

    def manifest(self) -> dict[str, Any]:
        return {key: self._json(value) for key, value in self._rows("SELECT * FROM manifest")}

    def points(self) -> list[StoredPoint]:
        """Return every point in the order of the plan, whatever its status."""
        rows = self._rows(
            "SELECT id, spec, status, result, error, started, finished FROM points ORDER BY id"
        )
        points = []
        for point, spec, status, result, error, *when in rows:
            with self.reading(f"point {point}"):
                document = None if result is None else _printable(self._json(result))
                failed = None if error is None else _printable(self._json(error))
                reason = None if failed is None else msgspec.convert(failed, dict[str, str])
                measured = None if document is None else PointResult.read(document)
                points.append(
                    StoredPoint(point, PointSpec.read(spec), status, measured, reason, *when)
                )
        return points

    def results(self) -> list[PointResult]:
        """Return the result of every point that is done, in the order of the plan."""
        return [p.result for p in self.points() if p.status == "done" and p.result is not None]

    def timeline(
        self, point_id: int, steps: Collection[tuple[str, str]] | None = None
    ) -> list[TimelineRow]:
        """Return the drains of a point, of all steps or of given (program, step) pairs."""
        narrower, names = "", [name for step in steps or () for name in step]
        if steps is not None:
            values = ", ".join(["(?, ?)"] * len(steps)) or "(NULL, NULL)"
            narrower = f"AND (program, step) IN (VALUES {values})"
        query = _select(TimelineRow, "timeline", narrower)
        return list(map(TimelineRow._make, self._rows(query, point_id, *names)))

    def samples(self, point_id: int) -> list[SampleRow]:
        query = _select(SampleRow, "samples")
        return list(map(SampleRow._make, self._rows(query, point_id)))

    def steps(self, point_id: int, phase: str = "measure") -> list[StepTotals]:
        rows = self._rows(steps.SELECT, point_id, phase)
        with self.reading(f"a step of point {point_id}"):
            return list(steps.read(rows))

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except _NOT_AS_WRITTEN as error:
            raise self._damage(f"{str(text)[:40]!r} is not JSON") from error


@contextlib.contextmanager
def showing(runs: Iterable[Path]) -> Iterator[None]:
    """Raise BadRunFile for a value that cannot be shown: facts are read without a check."""
    try:
        yield
    except _NOT_AS_WRITTEN as error:
        names = " or ".join(map(str, runs))
        raise BadRunFile(
            f"{names} is damaged: a value cannot be shown ({error!r})", _DAMAGED
        ) from error


def _printable(value: Any) -> Any:
    """Return a text without control characters: a server or a stranger may have written it."""
    if isinstance(value, str):
        return printable(value, len(value))
    if isinstance(value, list):
        return [_printable(child) for child in value]
    if isinstance(value, dict):
        return {_printable(name): _printable(child) for name, child in value.items()}
    return value


def _select(row: type[Any], table: str, narrower: str = "") -> str:
    """Return a query that names its columns: a newer file may have more columns."""
    columns: Sequence[str] = row._fields
    return (
        f"SELECT {', '.join(columns)} FROM {table} WHERE point = ? {narrower} ORDER BY t_ns, rowid"
    )


def _connect(place: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{place.as_uri()}?{mode}", uri=True, timeout=10.0, isolation_level=None)


def _sibling(place: Path, end: str) -> Path:
    return place.with_name(place.name + end)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
