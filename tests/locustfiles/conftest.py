"""A directory that counts its requests, and Locust as users start it."""

import functools
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from sitebench._engine import Directory
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from sitebench.targets.ownership import FLAG
from tests.support.cli import Ran
from tests.support.locusts import Locust
from tests.support.waiting import ends_s, eventually, left_s

LOCALES = ("en_US", "ru_RU")
PEOPLE = 200
ENOUGH = 500
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "ils.py"


@dataclass
class Counting:
    """An embedded directory, and its counts since the last call."""

    directory: Directory
    _before: dict[str, int]

    @property
    def url(self) -> str:
        return f"ldap://{self.directory.address}"

    def since(self) -> dict[str, int]:
        """Return the increase of each counter."""
        now = self.directory.stats()
        return {name: now[name] - self._before.get(name, 0) for name in now}


@contextmanager
def counting_directory() -> Iterator[Counting]:
    """A directory of 200 people."""
    people = generate(Spec(PEOPLE, locales=LOCALES)).population
    config = {"host": "127.0.0.1", "port": 0, "suffix": "o=Intranet", "profile": "paper"}
    directory = Directory(json.dumps(config), people)
    yield Counting(directory, directory.stats())
    directory.stop()


@pytest.fixture
def counting() -> Iterator[Counting]:
    """A directory of 200 people."""
    with counting_directory() as made:
        yield made


LOOKS = {"binds": 2, "searches": 2}
"""Requests to the target before a test: for the base, and for the target's facts."""
LOOKS_OF_THE_PAGE = {"binds": 6, "searches": 5}
"""Requests of the web UI.

It checks the target before a test begins, its tests are points, and after a measurement it binds
again to check that the directory answers.
"""

COUNTED_AS = {
    "bind": "binds",
    "lookup": "searches",
    "retrieve": "searches",
    "refresh": "searches",
    "add": "adds",
    "register": "adds",
    "announce": "modifies",
    "leave": "deletes",
}
"""The directory's counter for each step."""


@dataclass(frozen=True)
class Finished(Ran):
    """The exit of a Locust, its final counts by (program, step), and its directory."""

    counts: dict[tuple[str, str], int]
    failures: dict[tuple[str, str], int]
    counting: Counting

    def agree(self, looks: Mapping[str, int] = LOOKS) -> Self:
        """Check that the directory counted exactly the operations that Locust reports."""
        done, requests = self.counting.since(), Counter[str]()
        for (_, step), count in self.counts.items():
            if step in COUNTED_AS:
                requests[COUNTED_AS[step]] += count
        assert requests, self.err
        for kind, count in requests.items():
            assert done[kind] == count + looks.get(kind, 0), kind
        return self


Headless = Callable[..., Finished]


def arguments(locustfile: Path | str, url: str | None, *more: str) -> list[str]:
    """Return the arguments of a Locust with the people of the fixtures above."""
    argv = ["-f", str(locustfile), *more]
    argv += ["--locales", ",".join(LOCALES), "--entries", str(PEOPLE)]
    return argv if url is None else [*argv, "--target", url, FLAG, "--disposable"]


def processes(n: int) -> tuple[str, ...]:
    """Return the arguments for worker processes with a private master port.

    The port is not taken from the ephemeral ports: a worker that looks for its master before the
    master listens could connect to itself.
    """
    port = str(free_port())
    return ("--processes", str(n), "--master-bind-port", port, "--master-port", port)


@pytest.fixture
def headless(tmp_path: Path, counting: Counting) -> Headless:
    """Run Locust without its web UI at the directory, in the folder of the test."""
    return functools.partial(run_headless, tmp_path, counting)


def run_headless(
    folder: Path,
    counting: Counting,
    *more: str,
    locustfile: Path | str = LOCUSTFILE,
    code: str = "",
    interrupt_after: Sequence[str] = (),
    forked: bool = True,
) -> Finished:
    """Run Locust without its web UI, and read its final totals.

    `code` is the text of a locustfile. Ctrl-C is sent once the directory has counted hundreds of
    each name in `interrupt_after`.
    """
    if code:
        locustfile = folder / "own.py"
        locustfile.write_text(code)
    url = None if "--target" in more else counting.url
    argv = arguments(locustfile, url, "--headless", "--json-file", "totals", *more)
    state = {"XDG_STATE_HOME": str(folder / "state")}
    # A forked worker of a forked process has no time to send its last report.
    forked = forked and "--processes" not in more
    with Locust(*argv, cwd=folder, together=True, env=state, forked=forked) as process:
        if interrupt_after:
            under_way = eventually(
                lambda: min(counting.since()[each] for each in interrupt_after) > ENOUGH
            )
            os.killpg(process.pid, signal.SIGINT)
            assert under_way, process.communicate(ends_s())[0]
        said, _ = process.communicate(left_s())
    file = folder / "totals.json"
    totals: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
    return Finished(
        process.wait(),
        "",
        said,
        {(e["method"], e["name"]): e["num_requests"] for e in totals},
        {(e["method"], e["name"]): e["num_failures"] for e in totals},
        counting,
    )
