"""The run file of one cockpit: a point per test, each measured until somebody stops it."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sitebench.errors import CannotRecord, MeasurementFailed, SitebenchError
from sitebench.locust.preparing import apart
from sitebench.locust.recorder import Recording, Subject
from sitebench.locust.web_ui.live import Live
from sitebench.runs.manifest import collect, continued
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.runs.windows import PointFile, Windows
from sitebench.system.child import dump
from sitebench.system.scratch import scratch

log = logging.getLogger("sitebench")


@dataclass
class Test:
    """One test of the session: `result` is its last word, `judge` what could be said now."""

    spec: PointSpec
    live: Live
    judge: Callable[[], PointResult | None]
    result: PointResult | None = None
    error: SitebenchError | None = None

    @property
    def ended(self) -> bool:
        """Whether it has been stopped."""
        return self.result is not None or self.error is not None

    def file_away(self) -> None:
        """Forget what only the test that runs, or the last one, is asked: it takes megabytes."""
        self.live, self.judge = Live(()), lambda: self.result


class Session:
    """Records every test of one process to one run file."""

    def __init__(self, out: str | None) -> None:
        self.tests: list[Test] = []
        self.unprepared: SitebenchError | None = None
        """Why the last test did not even get a target."""
        self._folder, self._kept = contextlib.ExitStack(), out is not None
        if out is None:
            out = str(self._folder.enter_context(scratch()) / "ui.sitebench")
        self.store = RunStore(out)
        self._sizes: set[int] = set()

    @property
    def current(self) -> Test | None:
        """The test that runs now, or the last one."""
        return self.tests[-1] if self.tests else None

    def recording(self, subject: Subject, exporter: str | None) -> Recording:
        """Begin a point for a test."""
        self.unprepared = None
        spec = self._next(subject.spec())
        self._tell(subject, spec)
        self.store.begin(spec)
        live = Live(subject.counts)
        windows = Windows(
            subject.monitor(exporter), PointFile(self.store, self.store.point_id(spec.key)), live
        )
        live.windows = windows
        if (before := self.current) is not None:
            before.file_away()
        test = Test(spec, live, lambda: subject.result(spec, windows))
        self.tests.append(test)
        return Recording(
            subject, windows, lambda _: self._finish(test, subject), until_stopped=True
        )

    def _next(self, spec: PointSpec) -> PointSpec:
        """Return the specification as a repeat of those alike that were measured before."""
        while self.store.status(spec) is not None:
            spec = dataclasses.replace(spec, repeat=spec.repeat + 1)
        return spec

    def _tell(self, subject: Subject, spec: PointSpec) -> None:
        """Keep what must be known to measure the same again."""
        first = not self._sizes
        self._sizes.add(spec.entries)
        facts = dict(subject.facts(sorted(self._sizes)))
        if first:
            command = {"command": ["locust", *sys.argv[1:]]}
            facts = continued(self.store.manifest(), collect([], facts | command))
        self.store.set_manifest(facts)
        self.store.add_target(subject.target)

    def _finish(self, test: Test, subject: Subject) -> None:
        """Write what came of a test; whose users were changed had those that it ended with."""
        users = test.live.lanes_measured
        if users not in (None, test.spec.users):
            now = self._next(dataclasses.replace(test.spec, users=users, repeat=0))
            self.store.respecify(test.spec, now)
            test.spec = now
        windows = test.live.windows
        result = None if windows is None else subject.result(test.spec, windows)
        try:
            if result is None or windows is None:
                raise MeasurementFailed(
                    "the test was stopped before all users ran", "let it run a little longer"
                )
            windows.complete(result)
            subject.check()
        except CannotRecord:
            raise
        except MeasurementFailed as error:
            self._fail(test, error)
        else:
            self.store.confirm(test.spec)
        # Last: whoever asks takes the test to have ended then.
        test.result = result

    def failed(self, error: SitebenchError) -> None:
        """Write down why a test could not go on; one that did not begin has no point."""
        test = self.current
        if test is None or test.ended:
            self.unprepared = error
        else:
            self._fail(test, error)

    def _fail(self, test: Test, error: SitebenchError) -> None:
        log.error("%s", error)
        test.error = error
        self.store.fail(test.spec.key, dump(error))

    def snapshot(self, path: Path) -> None:
        """Write the run file as it is now, whole and in one piece, while tests go on."""
        try:
            # In the hub itself it would keep every drain waiting.
            apart(lambda: _copy(self.store.path, path))
        except sqlite3.Error as error:
            raise MeasurementFailed(
                f"cannot copy the run file to {path.parent}: {error}",
                "make room there, or begin with a $TMPDIR that has more",
            ) from error

    def close(self) -> str | None:
        """Close the run file; returns what to say about it, once, if any test was recorded."""
        self.store.close()
        if self._kept:
            return f"run file: {self.store.path}" if self.tests else None
        self._folder.close()
        n = len(self.tests)
        tests = "1 test" if n == 1 else f"{n} tests"
        return f"the run file of {tests} is gone: --out FILE keeps it" if n else None


def _copy(run: Path, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(run)) as database:
        database.execute("VACUUM INTO ?", (str(path),))
