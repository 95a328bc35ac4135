"""The programs by which users run a scenario, and their run files afterwards.

The engine alone is `tests.truth.engine_face`; here are the command line, its workers, Locust and
the web page, each in separate processes.
"""

from __future__ import annotations

import contextlib
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sitebench.errors import SitebenchError
from sitebench.measure.objective import Objective
from sitebench.runs.runfile import RunFile
from sitebench.runs.windows import Phase
from sitebench.system.network import free_port
from sitebench.targets.ownership import FLAG
from tests.support.cli import Ran, sitebench
from tests.support.locusts import run_locust
from tests.support.screen import Screen
from tests.support.web_page import web_ui
from tests.support.workers import forked_workers
from tests.truth import engine_face
from tests.truth.figures import Reported

ROOT = Path(__file__).parents[2]
RUN, SCENARIO = "run.sitebench", "cell.toml"
BROKEN = 3
"""The exit code of a command with a missed objective."""
_OPTIONS = ("rate", "arrivals", "stages", "think", "warmup", "measure", "timeout")
"""The keys of `[load]` that Locust needs as options, because it does not read that table."""


@dataclass(frozen=True)
class Task:
    folder: Path
    """A new folder for the run file and all other output."""
    protocol: str
    text: str
    """A scenario; its `[load]` has all options."""
    port: int
    objectives: Sequence[str] = ()
    ca: Path | None = None
    """The authority of the target's certificate, if it uses TLS."""
    more: Sequence[str] = ()
    """Additional options of the command line."""

    @property
    def suite(self) -> str:
        return {"ldap": "ils", "http": "ps"}[self.protocol]

    @property
    def target(self) -> list[str]:
        secure = "" if self.ca is None else "s"
        argv = ["--target", f"{self.protocol}{secure}://127.0.0.1:{self.port}"]
        argv += ["--base", "o=truth", FLAG] if self.protocol == "ldap" else []
        return argv if self.ca is None else [*argv, "--tls-ca", str(self.ca)]

    @property
    def load(self) -> Mapping[str, object]:
        load: Mapping[str, object] = tomllib.loads(self.text)["load"]
        return load

    def write(self) -> None:
        (self.folder / SCENARIO).write_text(self.text)


Door = Callable[[Task], object]
"""Runs a task to its end, and returns its other output."""


def command_line(task: Task, *more: str, command: str = "run", operation: str = "") -> Ran:
    """Run `sitebench HALF COMMAND FILE[:OPERATION]`."""
    scenario = "--scenario", SCENARIO + operation
    argv = [task.suite, command, *scenario, *task.target, "--out", RUN, "--json"]
    argv += ["--objective", ",".join(task.objectives)] if task.objectives else []
    return sitebench(*argv, *more, *task.more, cwd=task.folder)


def two_workers(task: Task) -> Ran:
    master = f"127.0.0.1:{free_port()}"
    workers = task.folder / "workers"
    workers.mkdir()
    with forked_workers(workers, master, processes=2, threads=1):
        return command_line(task, "--workers", "2", "--bind", master)


def _as_options(load: Mapping[str, object]) -> list[str]:
    argv = []
    for key in _OPTIONS:
        value = load.get(key)
        if key == "stages" and isinstance(value, list):
            value = ",".join(
                stage.removesuffix("/s") if stage.endswith("/s") else f"{stage} users"
                for stage in value
            )
        if value is not None:
            argv += [f"--{key}", str(value)]
    return argv


def locust(task: Task) -> Ran:
    """Run Locust without its web page, as users run it."""
    users = str(task.load.get("users", 1))
    locustfile = ROOT / "locustfiles" / f"{task.suite}.py"
    argv = ["-f", str(locustfile), "--headless", "-u", users, "-r", users, "--only-summary"]
    argv += [*task.target, "--scenario", SCENARIO, "--out", RUN, "--json", "FileUser"]
    return run_locust(*argv, *_as_options(task.load), cwd=task.folder)


def page(task: Task) -> Mapping[str, object]:
    """Run a test from the web page; return the figures on the page at the end."""
    users = int(str(task.load.get("users", 1)))
    argv = [*task.target, "--scenario", SCENARIO, "--out", RUN, *_as_options(task.load)]
    with web_ui(task.folder, task.suite, *argv) as (_, root):
        screen = Screen(root)
        screen.start("FileUser", users, rate=str(task.load.get("rate", "")))
        screen.wait(lambda stats: stats["state"] == "stopped")
        return screen.live()


DOORS: Mapping[str, Door] = {
    "two threads": lambda task: command_line(task, "--threads", "2"),
    "two workers": two_workers,
    # One operation of a file with two operations.
    "one operation": lambda task: command_line(task, operation=":o"),
    "locust": locust,
    "page": page,
    "portable": lambda task: command_line(task, "--client", "ldap3"),
    "sweep": lambda task: command_line(task, command="sweep"),
}


def run(door: Door, task: Task, begun: Callable[[int], None]) -> tuple[Reported, object]:
    """Run a task, and read its run file; `begun` is called with the begin of the window."""
    task.write()
    ended = threading.Event()
    watching = threading.Thread(target=_watch, args=(task.folder / RUN, begun, ended))
    watching.start()
    try:
        shown = door(task)
    finally:
        ended.set()
        watching.join()
    assert (task.folder / RUN).exists(), shown
    with RunFile(task.folder / RUN) as stored:
        point = stored.points()[-1]
        assert point.result is not None, (point.error, shown)
        ends = [row.t_ns for row in stored.timeline(point.id) if row.phase == Phase.MEASURE]
        assert ends, shown
        # A drain without operations has no row, so the length of the window is derived from the
        # rate.
        length_ns = round(point.result.operations / point.result.ops_per_s * 1e9)
        found = engine_face.reported(point.result.to_json(), max(ends) - length_ns, max(ends))
        due = stored.steps(point.id)
        every = [row for phase in Phase for row in stored.steps(point.id, phase)]
    slow = {(row.program, row.step): engine_face.slow(row) for row in due}
    rows = {
        key: replace(row, slow=slow[key]) if key in slow else row for key, row in found.rows.items()
    }
    states = {each: Objective.parse(each).judge(point.result).state for each in task.objectives}
    return replace(found, rows=rows, whole=engine_face.whole(every), objectives=states), shown


def _watch(path: Path, begun: Callable[[int], None], ended: threading.Event) -> None:
    """Report the begin of the window: half a second later its first row exists."""
    while not ended.wait(0.1):
        if not path.exists():
            continue
        with contextlib.suppress(SitebenchError), RunFile(path) as stored:
            points = stored.points()
            rows = [row for point in points for row in stored.timeline(point.id)]
            begins = [
                row.t_ns - round(row.seconds * 1e9) for row in rows if row.phase == Phase.MEASURE
            ]
            if begins:
                begun(min(begins))
                return
