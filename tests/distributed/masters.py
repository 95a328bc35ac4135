"""Locust masters as users start them, and workers that wait for them."""

import contextlib
import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from sitebench.errors import SitebenchError
from sitebench.runs.runfile import RunFile
from sitebench.system.network import free_port
from tests.distributed.network import Host
from tests.distributed.witness import FOLDER
from tests.support.children import children
from tests.support.cli import SITEBENCH
from tests.support.locusts import Locust
from tests.support.screen import Screen
from tests.support.ui_address import printed
from tests.support.waiting import ends_s, eventually, left_s

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PORT = 5557


@dataclass(frozen=True)
class Worker:
    """`sitebench worker` on a host, and the Locust worker that it keeps running."""

    process: subprocess.Popen[str]

    def locust(self) -> psutil.Process | None:
        """Return its Locust worker, or None before the start."""
        with contextlib.suppress(psutil.Error):
            return next(iter(children(self.process.pid, "sitebench.locust.workers.process")), None)
        return None

    def end(self) -> str:
        """Send Ctrl-C; return the output."""
        with contextlib.suppress(psutil.Error):
            command = psutil.Process(self.process.pid)
            for each in (command, *command.children()):
                if "worker" in each.cmdline():
                    each.send_signal(signal.SIGINT)
        said, _ = self.process.communicate(timeout=ends_s())
        return said


@contextlib.contextmanager
def worker(
    folder: Path,
    master: str,
    host: Host | None,
    *more: str,
    before: Sequence[str] = (),
    path: Path | None = None,
    cwd: Path | None = None,
) -> Iterator[Worker]:
    """Start a worker on a host; `before` precedes the command, `path` precedes other modules."""
    prefix = (*(() if host is None else host.prefix), *before)
    # A killed worker leaves its temporary folder here, not in the machine's.
    modules = ":".join(map(str, filter(None, (path, ROOT))))
    environment = {FOLDER: str(folder), "PYTHONPATH": modules, "TMPDIR": str(folder)}
    process = subprocess.Popen(
        # Not $PYTHONSAFEPATH: the processes of the command would inherit it.
        [*prefix, SITEBENCH[0], "-P", *SITEBENCH[1:], "worker", "--master", master, *more],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    made = Worker(process)
    try:
        yield made
    finally:
        if process.poll() is None:
            made.end()


@dataclass
class Master:
    """A Locust master that records to a run file."""

    process: Locust
    folder: Path
    screen: Screen = field(init=False)
    """The web UI of a master that is not headless."""

    def counted(self) -> Counter[str]:
        """Return the counts of the run file by step."""
        found: Counter[str] = Counter()
        with RunFile(self.folder / "run") as run:
            for point in run.points():
                for row in run.timeline(point.id):
                    found[row.step] += row.count
        return found

    def workers(self) -> list[str]:
        """Return the last result's text for each worker, for the message of a failed comparison."""
        with RunFile(self.folder / "run") as run:
            result = run.points()[-1].result
        return [] if result is None else [str(each) for each in result.workers]

    def measuring(self) -> bool:
        """Return whether the current test is in its measured window."""
        with contextlib.suppress(SitebenchError), RunFile(self.folder / "run") as run:
            for point in run.points()[-1:]:
                return any(row.phase == "measure" for row in run.timeline(point.id))
        return False

    def ready(self) -> set[str]:
        """Return the IDs of ready workers."""
        # Only this part of the web UI's statistics is not cached for two seconds.
        workers = self.screen.stats().get("workers", ())
        return {each["id"] for each in workers if each["state"] == "ready"}

    def end(self, how: signal.Signals | None = None, or_says: str | None = None) -> Counter[str]:
        """Wait for the master's end, or signal it; return Locust's own totals.

        A failure whose output contains `or_says` does not fail the test.
        """
        if how is not None:
            self.process.send_signal(how)
        said, _ = self.process.communicate(left_s())
        assert self.process.returncode == 0 or (or_says and or_says in said), said
        totals = Counter[str]()
        for row in json.loads((self.folder / "totals.json").read_text()):
            totals[row["name"]] += row["num_requests"]
        return totals


@contextlib.contextmanager
def master(folder: Path, locustfile: str, address: str, *more: str) -> Iterator[Master]:
    folder.mkdir(parents=True)
    argv = ["-f", str(HERE / locustfile), "--master"]
    argv += ["--master-bind-host", address, "--master-bind-port", str(PORT)]
    argv += ["--web-host", "127.0.0.1", "--web-port", str(free_port()), "--loglevel", "WARNING"]
    # Each test is a separate point.
    argv += ["--out", "run", "--json-file", "totals", *more]
    state = {"XDG_STATE_HOME": str(folder / "state")}
    process = Locust(*argv, cwd=folder, together=True, env=state)
    try:
        made = Master(process, folder)
        if "--headless" not in more:
            made.screen = Screen(printed(process))
        yield made
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(ends_s())
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def waited_for(happened: Any, what: str) -> None:
    """Wait for a condition, and fail with `what` as the message."""
    assert eventually(happened), what
