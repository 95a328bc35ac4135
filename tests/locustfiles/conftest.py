"""A directory that counts what it is asked, and Locust as people start it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seeders.people import Spec, generate
from sitebench._engine import Directory

LOCALES = ("en_US", "ru_RU")
PEOPLE = 200
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
    interrupt_after_s: float | None = None,
) -> Finished:
    """Run Locust without its web UI, and read the totals it wrote at its end."""
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
    if interrupt_after_s is not None:
        time.sleep(interrupt_after_s)
        os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    totals: list[dict[str, Any]] = json.loads((folder / "totals.json").read_text())
    return Finished(
        process.returncode,
        said,
        {(e["method"], e["name"]): e["num_requests"] for e in totals},
        {(e["method"], e["name"]): e["num_failures"] for e in totals},
    )
