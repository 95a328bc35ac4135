"""The run file of one web UI: a point per test, each measured until it is stopped."""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from sitebench.errors import CannotRecord, MeasurementFailed, SitebenchError
from sitebench.locust.preparing import run_in_thread
from sitebench.locust.recorder import Recording, Subject
from sitebench.locust.web_ui.live import LiveView
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.options.convert import from_namespace
from sitebench.runs.manifest import collect, resume_facts
from sitebench.runs.point import PointResult, PointSpec
from sitebench.runs.store import RunStore
from sitebench.runs.windows import PointFile, Windows
from sitebench.system.child import dump

if TYPE_CHECKING:
    from locust.env import Environment

log = logging.getLogger("sitebench")


class SessionTest(msgspec.Struct):
    """One test of a session: `result` is final, `judge` returns the result so far."""

    spec: PointSpec
    live: LiveView
    judge: Callable[[], PointResult | None]
    result: PointResult | None = None
    error: SitebenchError | None = None

    @property
    def has_ended(self) -> bool:
        return self.result is not None or self.error is not None

    def release_details(self) -> None:
        self.live, self.judge = LiveView(()), lambda: self.result


class Session:
    def __init__(self, out: str) -> None:
        self.tests: list[SessionTest] = []
        self.unprepared: SitebenchError | None = None
        self._new = not Path(out).exists()
        self.store = RunStore(out)
        self._sizes: set[int] = set()

    @property
    def current(self) -> SessionTest | None:
        return self.tests[-1] if self.tests else None

    def recording(self, subject: Subject, exporter: str | None) -> Recording:
        self.unprepared = None
        spec = self._next(subject.spec)
        self._write_manifest(subject, spec)
        self.store.begin(spec)
        live = LiveView(subject.counts)
        windows = Windows(
            subject.monitor(exporter),
            PointFile(self.store, self.store.point_id(spec.key)),
            live.add_drain,
            live.add_sample,
            span_s=math.inf if spec.stages is None else spec.stages.span_s,
        )
        live.windows = windows
        if (earlier := self.current) is not None:
            earlier.release_details()
        test = SessionTest(spec, live, lambda: subject.result(spec, windows))
        self.tests.append(test)
        return Recording(
            subject, windows, lambda _: self._finish(test, subject, windows), until_stopped=True
        )

    def _next(self, spec: PointSpec) -> PointSpec:
        """Return the specification of the first repeat that is not measured yet."""
        while self.store.status(spec) is not None:
            spec = replace(spec, repeat=spec.repeat + 1)
        return spec

    def _write_manifest(self, subject: Subject, spec: PointSpec) -> None:
        first = not self._sizes
        self._sizes.add(spec.entries)
        facts = dict(subject.facts(sorted(self._sizes)))
        if first:
            command = {"command": ["locust", *sys.argv[1:]]}
            facts = resume_facts(self.store.manifest(), collect([], facts | command))
        self.store.set_manifest(facts)
        self.store.add_target(subject.target)

    def _finish(self, test: SessionTest, subject: Subject, windows: Windows) -> None:
        """Write the result, for the number of users at the end of the test."""
        users = test.live.lanes_measured
        if test.spec.stages is None and users not in (None, test.spec.users):
            now = self._next(replace(test.spec, users=users, repeat=0))
            self.store.respecify(test.spec, now)
            test.spec = now
        result = subject.result(test.spec, windows)
        try:
            if result is None:
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
        # The last step: the test now counts as ended.
        test.result = result

    def record_failure(self, error: SitebenchError) -> None:
        """Record the error of a test; a test that could not begin has no point."""
        test = self.current
        if test is None or test.has_ended:
            self.unprepared = error
        else:
            self._fail(test, error)

    def _fail(self, test: SessionTest, error: SitebenchError) -> None:
        log.error("%s", error)
        test.error = error
        self.store.fail(test.spec.key, dump(error))

    def snapshot(self, path: Path) -> None:
        """Write a consistent copy of the run file while tests go on."""

        def copy() -> None:
            with contextlib.closing(sqlite3.connect(self.store.path)) as database:
                database.execute("VACUUM INTO ?", (str(path),))

        try:
            # In the hub, the copying would delay every drain.
            run_in_thread(copy)
        except sqlite3.Error as error:
            raise MeasurementFailed(
                f"cannot copy the run file to {path.parent}: {error}",
                "free space there, or set $TMPDIR to a folder with more space",
            ) from error

    def close(self) -> str | None:
        """Close the run file; return a message about it, if a test was recorded."""
        path = self.store.path
        self.store.close()
        if self.tests:
            return f"run file: {path}"
        if self._new:
            path.unlink()
        return None


def open_session(environment: Environment) -> Session | None:
    """Open a run file for the tests of a Locust that a user controls, in the commanding process."""
    from locust.runners import WorkerRunner

    if isinstance(environment.runner, WorkerRunner) or environment.parsed_options is None:
        return None
    storage = from_namespace(SessionOptions, environment.parsed_options)
    if storage.out is None and environment.web_ui is None:
        return None
    if environment.web_ui is not None:
        # This import is late, as most points are measured without a login.
        from sitebench.locust.web_ui import login

        # The check comes before the run file is made.
        login.check(web_login=environment.web_ui.web_login, login_file=storage.login_file)
    session = Session(storage.out or f"ui-{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.sitebench")

    def closing(**_: Any) -> None:
        if message := session.close():
            log.warning("%s", message)

    events: Any = environment.events
    events.quit.add_listener(closing)
    return session
