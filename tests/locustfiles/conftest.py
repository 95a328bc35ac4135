"""A directory that counts what it is asked, and Locust as people start it."""

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Finished(Ran):
    """How a Locust ended, and its final counts by (program, step)."""

    counts: dict[tuple[str, str], int]
    failures: dict[tuple[str, str], int]


def arguments(locustfile: Path | str, url: str | None, *more: str) -> list[str]:
    """Return the arguments of a Locust that takes its people from the fixtures above."""
    argv = ["-f", str(locustfile), *more]
    argv += ["--locales", ",".join(LOCALES), "--entries", str(PEOPLE)]
    return argv if url is None else [*argv, "--target", url, FLAG, "--disposable"]


def processes(n: int) -> tuple[str, ...]:
    """Return the arguments for worker processes whose master no other test's workers find.

    No connection begins from a free port: workers that look for their master there before it
    listens would find themselves.
    """
    port = str(free_port())
    return ("--processes", str(n), "--master-bind-port", port, "--master-port", port)


def headless(
    folder: Path,
    counting: Counting,
    *more: str,
    locustfile: Path | str = LOCUSTFILE,
    interrupt_after: Sequence[str] = (),
    forked: bool = True,
) -> Finished:
    """Run Locust without its web UI, and read the totals it wrote at its end.

    Ctrl-C comes when the directory has counted hundreds of each in `interrupt_after`.
    """
    url = None if "--target" in more else counting.url
    argv = arguments(locustfile, url, "--headless", "--json-file", "totals", *more)
    state = {"XDG_STATE_HOME": str(folder / "state")}
    # A worker that is a fork of a fork has no time to send its last words.
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
    )


LOOKS = {"binds": 2, "searches": 2}
"""At the target before a test: for the base, and for its own facts."""
LOOKS_OF_A_POINT = {"binds": 3, "searches": 3}
"""One more, for cn=Monitor, which it has not."""
LOOKS_OF_THE_PAGE = {"binds": 6, "searches": 5}
"""The web UI refuses what cannot be used before it begins, its tests are points, and when one has
measured it binds again, to see whether the directory lives."""

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


def agrees(ran: Finished, counting: Counting, *, looks: Mapping[str, int] = LOOKS) -> None:
    """Check that the directory did exactly what Locust says was done."""
    done = counting.since()
    asked: dict[str, int] = {}
    for (_, step), count in ran.counts.items():
        if (kind := COUNTED_AS.get(step)) is not None:
            asked[kind] = asked.get(kind, 0) + count
    assert asked, ran.err
    for kind, count in asked.items():
        assert done[kind] == count + looks.get(kind, 0), kind
