"""The folder of commands with faults, and the checks after their end."""

import contextlib
import itertools
import os
import sqlite3
import subprocess
import tempfile
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from sitebench.errors import BadRunFile
from sitebench.runs.runfile import RunFile, TimelineRow
from sitebench.runs.windows import Phase
from tests.support.cli import SITEBENCH, Ran, in_process, without_note
from tests.support.waiting import eventually, left_s

MARK = "SITEBENCH_TEST_OF_FAULTS"
"""Environment variable that identifies processes regardless of their current parent."""

Points = dict[str, list[object]]
"""All data of each point in a run file, by the point's key."""


class Ground:
    """A run file, with the processes and temporary files of all commands that use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = folder / "run.sitebench"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.mark = str(uuid.uuid4())
        self.environment = {
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(folder / "state"),
            "COLUMNS": "160",
            MARK: self.mark,
        }

    @contextlib.contextmanager
    def started(
        self, *argv: str, before: Sequence[str] = (), **environment: str
    ) -> Iterator[subprocess.Popen[str]]:
        """Start a command in a new process group, which is killed afterwards."""
        process = subprocess.Popen(
            [*before, *SITEBENCH, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, **self.environment, **environment},
            start_new_session=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def ran(self, *argv: str, before: Sequence[str] = (), **environment: str) -> Ran:
        """Run a command to its end."""
        with self.started(*argv, before=before, **environment) as process:
            out, err = process.communicate(timeout=left_s())
        assert "Traceback" not in err, err
        return Ran(process.returncode, out, without_note(err))

    def here(self, *argv: str) -> Ran:
        """Run a command to its end in this process."""
        with pytest.MonkeyPatch.context() as patch:
            # Otherwise it is the folder of the first caller in this process.
            patch.setattr(tempfile, "tempdir", None)
            ran = in_process(*argv, cwd=self.folder, **self.environment)
        assert "Traceback" not in ran.err, ran.err
        return ran

    def point(self, *argv: str, before: Sequence[str] = (), **environment: str) -> dict[str, Any]:
        """Measure a point into the run file, and return it."""
        command = (*argv, "--json", "--allow-failures", "--out", str(self.run))
        if before or environment:
            ran = self.ran(*command, before=before, **environment)
        else:
            ran = self.here(*command)
        return ran.point

    def befallen(self, fault: Callable[[Callable[[], bool]], object], *argv: str) -> dict[str, Any]:
        """Measure a point with a fault in its window into the run file, and return it.

        The fault happens in another thread, once lanes are running. It gets a function that returns
        whether the command has ended.
        """
        over = threading.Event()

        def happen() -> None:
            assert eventually(lambda: "measure" in self.phases() or over.is_set())
            assert not over.is_set(), "the command ended before lanes were at work"
            fault(over.is_set)

        with ThreadPoolExecutor(1) as pool:
            happening = pool.submit(happen)
            try:
                point = self.point(*argv)
            finally:
                over.set()
            happening.result()
        return point

    def processes(self) -> list[str]:
        """Return the commands of all running processes of this folder."""
        found = []
        for each in psutil.process_iter():
            try:
                if self._of_ours(each):
                    found.append(" ".join(each.cmdline()))
            except psutil.Error:
                continue
        return found

    def _of_ours(self, process: psutil.Process) -> bool:
        """Whether a process belongs to a started command, or to a command in this process."""
        return process.environ().get(MARK) == self.mark or process.cwd() == str(self.folder)

    def timeline(self) -> list[TimelineRow]:
        """Return every drain of the run file so far."""
        try:
            with RunFile(self.run) as run:
                return [row for point in run.points() for row in run.timeline(point.id)]
        except BadRunFile:
            return []

    def phases(self) -> set[str]:
        return {row.phase for row in self.timeline()}

    def windows(self) -> int:
        """Count the points whose measured window has begun."""
        return len({row.point for row in self.timeline() if row.phase == "measure"})

    def failures(self) -> int:
        return sum(row.failures for row in self.timeline())

    def done(self) -> Points:
        """Return all data of the finished points."""
        try:
            with RunFile(self.run) as run:
                return {
                    point.spec.key: [
                        point,
                        run.timeline(point.id),
                        run.samples(point.id),
                        *(run.steps(point.id, phase) for phase in Phase),
                    ]
                    for point in run.points()
                    if point.status == "done"
                }
        except BadRunFile:
            return {}

    def right_again(self) -> bool:
        """Whether two consecutive drains after a failure have operations and no failure.

        These drains may be anywhere after the failure: on a busy machine the last drains may have
        timeouts.
        """
        counts, failed = Counter[int](), Counter[int]()
        for row in self.timeline():
            if row.phase == "measure":
                counts[row.t_ns] += row.count
                failed[row.t_ns] += row.failures
        first = min(at for at, n in failed.items() if n)
        right = [counts[at] > 0 and not failed[at] for at in sorted(counts) if at > first]
        return any(one and other for one, other in itertools.pairwise(right))

    def assert_whole(self) -> None:
        """Check the file page by page, and each point's drains against its totals."""
        with contextlib.closing(sqlite3.connect(self.run)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        with RunFile(self.run) as run:
            for point in run.points():
                if point.status == "done":
                    rows = [row for row in run.timeline(point.id) if row.phase == "measure"]
                    steps = run.steps(point.id)
                    failed = sum(sum(step.failures.values()) for step in steps)
                    assert sum(row.count for row in rows) == sum(step.count for step in steps)
                    assert sum(row.failures for row in rows) == failed

    def assert_over(self) -> None:
        """Check that no process and no temporary file remains."""
        assert eventually(lambda: not self.processes()), self.processes()
        assert list(self.temporary.iterdir()) == []

    def assert_clean(self) -> None:
        """Check that all commands have ended, and that only the usable run file remains."""
        self.assert_over()
        if self.run.exists():
            self.assert_whole()
            with RunFile(self.run) as run:
                run.manifest()
        folders = (self.folder, self.run.parent)
        beside = {each.name for at in folders for each in at.iterdir() if each.is_file()}
        assert not [name for name in beside if name.startswith((".", self.run.name + "-"))], beside
