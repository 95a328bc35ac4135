"""What `plan logins` foretells of a hash, and what that hash then costs, on servers of others.

    python -m tests.ils_bench.login_forecast slapd --windows 10 --measure 10s
    python -m tests.ils_bench.login_forecast 389-DS --only ssha,pbkdf2-sha256

389-DS takes root and Debian's package. Each window measures two rounds into one file and a third
into another, one after the other, so that what drifts on the machine falls on both. A hash without
rounds is foretold by itself.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from benches.command import run
from sitebench.errors import EXIT_FAILED
from sitebench.frozen import frozen
from sitebench.options import option
from sitebench.options.command import argument, command
from sitebench.runs.runfile import RunFile
from tests.scenario import servers
from tests.support.cli import Ran, sitebench

_PID_FILE = Path("/run/dirsrv/slapd-sitebench.pid")
_EVERY_S = 0.1
CLOSE = 0.1
"""How far a forecast may be from what is seen: of the median of all windows."""
_LONGEST_S = 3_600.0
_QUICK = {name: ((name,), name) for name in ("clear", "ssha", "ssha512")}
_CRYPT = ("crypt:5000", "crypt:50000"), "crypt:20000"
FORECASTS: Mapping[str, Mapping[str, tuple[Sequence[str], str]]] = {
    "slapd": {
        **_QUICK,
        "crypt": _CRYPT,
        "pbkdf2-sha256": (("pbkdf2-sha256:100000", "pbkdf2-sha256:600000"), "pbkdf2-sha256:300000"),
        "pbkdf2-sha512": (("pbkdf2-sha512:50000", "pbkdf2-sha512:210000"), "pbkdf2-sha512:100000"),
        "argon2-passes": (("argon2:19m:1", "argon2:19m:4"), "argon2:19m:2"),
        # From 32 MiB on each check takes its memory anew. In one pass it is never all there.
        "argon2-memory": (("argon2:36m", "argon2:72m"), "argon2:54m"),
    },
    "389-DS": {
        **_QUICK,
        "crypt": _CRYPT,
        "pbkdf2-sha256": (("pbkdf2-sha256:10000", "pbkdf2-sha256:100000"), "pbkdf2-sha256:30000"),
        "pbkdf2-sha512": (("pbkdf2-sha512:10000", "pbkdf2-sha512:60000"), "pbkdf2-sha512:30000"),
    },
}
"""By server and hash: what is measured, and what is foretold from that."""


@dataclass(frozen=True)
class Windows:
    """How often each hash is measured, and how long."""

    count: int
    seconds: float


@dataclass(frozen=True)
class Pair:
    """One figure, foretold and seen in each window."""

    foretold: Sequence[float]
    seen: Sequence[float]

    @property
    def ratio(self) -> float:
        """Of the median window: rates rise and fall with what else the machine does."""
        return statistics.median(self._ratios)

    @property
    def _ratios(self) -> Sequence[float]:
        return [one / other for one, other in zip(self.foretold, self.seen, strict=True)]

    def __str__(self) -> str:
        return (
            f"{statistics.median(self.foretold):.4g} foretold, {statistics.median(self.seen):.4g} "
            f"seen: {self.ratio:.3f} ({min(self._ratios):.2f} to {max(self._ratios):.2f})"
        )


@contextlib.contextmanager
def measuring(server: str, folder: Path) -> Iterator[Sequence[str]]:
    """Yield the options that name the server; a slapd is started for each point."""
    if server == "slapd":
        yield ("--target", "openldap", "--profile", "person")
        return
    with servers.ds389(folder) as foreign:
        keep = "dn: cn=config\nchangetype: modify\nreplace: nsslapd-enable-upgrade-hash\n"
        # Otherwise a first login makes another hash of most.
        servers.ldap(
            *("ldapmodify", foreign.url, foreign.bind_dn),
            text=f"{keep}nsslapd-enable-upgrade-hash: off\n",
        )
        base = "ou=ours," + foreign.base.partition(",")[2]
        who = ("--target", foreign.url, "--base", base, "--bind-dn", foreign.bind_dn)
        yield (*who, "--i-own-this-target", "--profile", "person")


def forecast(
    server: str, kind: str, at: Sequence[str], windows: Windows, folder: Path
) -> dict[str, Pair]:
    """Return what is foretold and seen of a hash: ms of CPU, cores that are used, memory.

    Cores that are used are read here, from the kernel, and foretold by the rate that was reached.
    """
    known, asked = FORECASTS[server][kind]
    load = [*at, "--entries", "1k", "--hash-pool", "100", "--users", "16", "--locales", "en_US"]
    load += ["--warmup", "2s", "--measure", f"{windows.seconds:g}s"]
    # The server at rest is that of a hash without memory.
    first = ["ssha", *known] if asked.startswith("argon2") else known
    found: dict[str, tuple[list[float], list[float]]] = {}
    for n in range(windows.count):
        one, other = (folder / f"{name}-{n}.sitebench" for name in ("known", "asked"))
        sweep = ("sweep", "--operations", "login", "--hash", ",".join(first))
        _ran("ils", *sweep, *load, "--out", one)
        with _watching(server) as readings:
            seen = _ran("ils", "run", "login", "--hash", asked, *load, "--out", other, "--json")
        planned = _ran("plan", "logins", one, "--hash", asked, "--json")
        (point,) = seen.objects
        (answer,) = json.loads(planned.out)["answers"]
        target = point["target"]
        pairs = {
            "ms of CPU": (answer["cpu_ms"], target["per_operation"]["cpu_us"] / 1e3),
            "cores used": (
                point["ops_per_s"] * answer["cpu_ms"] / 1e3,
                _cores(readings, *_window(other)),
            ),
            "MiB": (answer["memory_gib"] * 1024, _peak_mib(point)),
        }
        for figure, (foretold, measured) in pairs.items():
            into = found.setdefault(figure, ([], []))
            into[0].append(foretold)
            into[1].append(measured)
    return {figure: Pair(*each) for figure, each in found.items()}


@contextlib.contextmanager
def _watching(server: str) -> Iterator[list[tuple[float, float]]]:
    """Yield readings of a server's CPU time, each with the time of the monotonic clock."""
    readings: list[tuple[float, float]] = []
    over = threading.Event()

    def watch() -> None:
        found: psutil.Process | None = None
        while not over.wait(_EVERY_S):
            try:
                if found is None and (found := _started(server)) is not None:
                    # One that was there before may just be ending.
                    readings.clear()
                if found is not None:
                    times = found.cpu_times()
                    readings.append((time.monotonic(), times.user + times.system))
            except (psutil.Error, OSError):
                found = None

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield readings
    finally:
        over.set()
        watcher.join()


def _started(server: str) -> psutil.Process | None:
    """Return the server's process: a slapd is of ours, and 389-DS leaves its number in a file."""
    if server != "slapd":
        return psutil.Process(int(_PID_FILE.read_text()))
    ours = psutil.Process().children(recursive=True)
    return next((each for each in ours if each.name() == server), None)


def _window(path: Path) -> tuple[float, float]:
    """Return when a run's measured window began and ended, by the monotonic clock."""
    with RunFile(path) as file:
        (point,) = file.points()
        rows = [row for row in file.timeline(point.id) if row.phase == "measure"]
    return min(row.t_ns / 1e9 - row.seconds for row in rows), max(row.t_ns / 1e9 for row in rows)


def _cores(readings: Sequence[tuple[float, float]], began: float, ended: float) -> float:
    """Return how many cores were used between two times."""
    within = [each for each in readings if began <= each[0] <= ended]
    assert len(within) > 1, "the server's process was not seen"
    (first, before_s), (last, after_s) = within[0], within[-1]
    return (after_s - before_s) / (last - first)


def _peak_mib(point: Mapping[str, Any]) -> float:
    return float(point["resources"]["target"]["peak_rss"]) / 2**20


def _ran(*argv: object) -> Ran:
    texts = map(str, argv)
    ran = sitebench(*texts, timeout_s=_LONGEST_S, SITEBENCH_BIND_PASSWORD=servers.PASSWORD)
    assert ran.code == 0, ran.err
    return ran


def within(pair: Pair) -> bool:
    return abs(pair.ratio - 1) <= CLOSE


@frozen
class _Options:
    """What `python -m tests.ils_bench.login_forecast` takes."""

    only: str | None = option.text(None, "Hashes to measure (default: all).", "LIST")
    windows: int = option.count(10, "Windows of each hash.")
    measure: float = option.duration(10.0, "Length of each.")


_SERVER = argument("SERVER", "slapd or 389-DS.", words=tuple(FORECASTS))


@command(_Options, _SERVER, panel="Measure")
def main(options: _Options, server: str) -> None:
    """Foretell the cost of each hash on a server, and measure it."""
    chosen = FORECASTS[server]
    names = options.only.split(",") if options.only else list(chosen)
    windows = Windows(options.windows, options.measure)
    far = 0
    with TemporaryDirectory() as name, measuring(server, Path(name)) as at:
        for each in names:
            _, asked = chosen[each]
            (folder := Path(name) / each).mkdir()
            try:
                pairs = forecast(server, each, at, windows, folder)
            except AssertionError as error:
                far += 1
                print(f"{server:7} {asked:22} not measured: {error}", flush=True)
                continue
            for figure, pair in pairs.items():
                far += not within(pair)
                mark = "" if within(pair) else "   FAR"
                print(f"{server:7} {asked:22} {figure:10} {pair}{mark}", flush=True)
    if far:
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    run(main, "tests.ils_bench.login_forecast")
