"""Embedded servers in separate processes, which a test can stop and continue."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sitebench._engine import Directory, Site, Visitors, build_upd
from tests.conformance.slapd import running_slapd
from tests.support.people import LOCALES, POOLS, small_population
from tests.support.waiting import eventually

PEOPLE = 200
UPD = json.dumps({"seed": 1, "size": PEOPLE, "locales": LOCALES})


def visitors() -> Visitors:
    return Visitors(str(POOLS), json.dumps({"seed": 1, "locales": LOCALES}))


@contextmanager
def served(kind: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Yield process ID and port of a "directory", a "site", or a "slapd" with the same people."""
    if kind == "slapd":
        with running_slapd(folder / "slapd", ldif=_ldif(folder)) as slapd:
            yield int((folder / "slapd" / "slapd.pid").read_text()), slapd.port
        return
    with subprocess.Popen(
        [sys.executable, "-m", __name__, kind, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def freeze(pid: int, seconds: float) -> tuple[int, int]:
    """Stop a process for some seconds; return the times between which it was certainly stopped."""
    os.kill(pid, signal.SIGSTOP)
    stat = Path(f"/proc/{pid}/stat")
    assert eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
    stopped_ns = time.monotonic_ns()
    time.sleep(seconds)
    goes_on_ns = time.monotonic_ns()
    os.kill(pid, signal.SIGCONT)
    return stopped_ns, goes_on_ns


def _ldif(folder: Path) -> Path:
    path = folder / "people.ldif"
    path.write_bytes(small_population(PEOPLE).ldif(0, PEOPLE, with_containers=True))
    return path


def _serve(kind: str, folder: Path) -> None:
    if kind == "directory":
        serving: Directory | Site = Directory("{}", small_population(PEOPLE))
    else:
        build_upd(str(folder / "upd"), str(POOLS), UPD)
        serving = Site(json.dumps({"database": str(folder / "upd")}))
    print(serving.port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]))
