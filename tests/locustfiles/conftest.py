"""A directory that counts what it is asked, and Locust as people start it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seeders.people import Spec, generate
from sitebench._engine import Directory
from tests.support.waiting import eventually

LOCALES = ("en_US", "ru_RU")
PEOPLE = 200
ENOUGH = 500
SLOW_S = 60.0
"""How long a busy machine may take for what takes a second."""
LOCUSTFILE = Path(__file__).parents[2] / "locustfiles" / "ils.py"


@dataclass
class Counting:
    """An embedded directory, and what it has done since it was last asked."""

    directory: Directory
    _before: dict[str, int]

    @property
    def url(self) -> str:
        """Where it is."""
        return f"ldap://{self.directory.address}"

    def since(self) -> dict[str, int]:
        """Return how far each counter has moved."""
        now = self.directory.stats()
        return {name: now[name] - self._before.get(name, 0) for name in now}


@pytest.fixture
def counting() -> Iterator[Counting]:
    """A directory of 200 people."""
    people = generate(Spec(PEOPLE, locales=LOCALES)).population
    config = {"host": "127.0.0.1", "port": 0, "suffix": "o=Intranet", "profile": "paper"}
    directory = Directory(json.dumps(config), people)
    yield Counting(directory, directory.stats())
    directory.stop()


@dataclass
class Finished:
    """How a Locust ended, and its final counts by (program, step)."""

    code: int
    said: str
    counts: dict[tuple[str, str], int]
    failures: dict[tuple[str, str], int]


def arguments(locustfile: Path, url: str | None, *more: str) -> list[str]:
    """Return the command line of a Locust that takes its people from the fixtures above."""
    argv = [sys.executable, "-m", "locust", "-f", str(locustfile), *more]
    argv += ["--locales", ",".join(LOCALES), "--entries", str(PEOPLE)]
    return argv if url is None else [*argv, "--target", url, "--disposable"]


def headless(
    folder: Path,
    counting: Counting,
    *more: str,
    locustfile: Path = LOCUSTFILE,
    interrupt_after: str | None = None,
) -> Finished:
    """Run Locust without its web UI, and read the totals it wrote at its end.

    `interrupt_after` is what the directory counts when Ctrl-C comes: hundreds of them, at least.
    """
    argv = arguments(locustfile, counting.url, "--headless", "--json-file", "totals", *more)
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    if interrupt_after is not None:
        under_way = eventually(lambda: counting.since()[interrupt_after] > ENOUGH, SLOW_S)
        os.killpg(process.pid, signal.SIGINT)
        assert under_way, process.communicate(timeout=SLOW_S)[0]
    said, _ = process.communicate(timeout=SLOW_S)
    totals: list[dict[str, Any]] = json.loads((folder / "totals.json").read_text())
    return Finished(
        process.returncode,
        said,
        {(e["method"], e["name"]): e["num_requests"] for e in totals},
        {(e["method"], e["name"]): e["num_failures"] for e in totals},
    )


PROBE = {"binds": 2, "searches": 2}
"""What the looks at the target before a test cost it: one for the base, one for its own facts."""

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
"""What the directory counts when a step is done."""


def agrees(ran: Finished, counting: Counting, *, probes: int = 1) -> None:
    """Check that the directory did exactly what Locust says was done."""
    done = counting.since()
    asked: dict[str, int] = {}
    for (_, step), count in ran.counts.items():
        if (kind := COUNTED_AS.get(step)) is not None:
            asked[kind] = asked.get(kind, 0) + count
    assert asked, ran.said
    for kind, count in asked.items():
        assert done[kind] - probes * PROBE.get(kind, 0) == count, kind
