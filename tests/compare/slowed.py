"""A real directory with two addresses, one of them slower, and a load generator beside it.

Both addresses belong to one slapd, because two processes already differ by some percent with the
placement of their data in memory. Answers at the slower address cost more CPU time (slower.c,
loaded before its libraries): it wastes a share of its core, whatever the machine and its load are.
A CPU quota would slow it down only while it needs a whole core.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from ils_bench.targets.openldap import fill, find, write_config
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from tests.support.cli import SITEBENCH
from tests.support.programs import required_program, run_program, running_server
from tests.support.waiting import eventually

PEOPLE = Spec(1_000, locales=("en_US",))
CALM_S = 120.0
TARGET_CORE, TESTER_CORE = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
"""The cores of directory and load generator, which may be the same core."""
SOURCE = Path(__file__).parent / "slower.c"


@dataclass(frozen=True)
class Directory:
    """Two addresses of one slapd."""

    plain: str
    slower: str


@contextlib.contextmanager
def pinned(core: int) -> Iterator[None]:
    """Pin processes started in the block to one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Give processes started in the block real-time priority, if permitted.

    Other programs on a busy machine then cost both sides a little time, instead of costing one side
    much time now and then.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def calm() -> bool:
    """Whether tasks wait for a core less than a quarter of the time (the kernel's pressure)."""
    try:
        said = Path("/proc/pressure/cpu").read_text()
    except OSError:
        return True
    return float(said.partition("avg10=")[2].partition(" ")[0]) < 25.0


@contextlib.contextmanager
def directory(loss: float) -> Iterator[Directory]:
    """Run a slapd that loses a share of its CPU time at one of its addresses."""
    with tempfile.TemporaryDirectory(prefix="sitebench-slower-") as name:
        folder = Path(name)
        ports = free_port(), free_port()
        urls = [f"ldap://127.0.0.1:{port}" for port in ports]
        argv = [*_ends_with_us(), find("slapd"), "-d", "0", "-f", _filled(folder)]
        env = {**os.environ, "LD_PRELOAD": str(_library(folder))}
        env |= {"SLOWER": str(loss / (1 - loss)), "SLOWER_PORT": str(ports[1])}
        # slapd listens at both addresses before it answers at one.
        server = running_server([*argv, "-h", " ".join(urls)], ports[1], env=env)
        with contextlib.ExitStack() as stack:
            with pinned(TARGET_CORE), undisturbed():
                stack.enter_context(server)
            yield Directory(*urls)


def _ends_with_us() -> list[str]:
    """Return a prefix for commands that must end together with this process."""
    return [str(required_program("setpriv")), "--pdeathsig", "INT"]


def _filled(folder: Path) -> Path:
    """Return the configuration of a slapd that holds the people."""
    ldif = folder / "people.ldif"
    config = write_config(folder, PEOPLE)
    write_ldif(generate(PEOPLE).population, ldif)
    fill(config, [(PEOPLE.size, ldif.read_bytes())])
    return config


def _library(folder: Path) -> Path:
    """Compile the library that slows slapd down."""
    library = folder / "slower.so"
    compiler = str(required_program("cc"))
    argv = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    run_program([*argv, "-ldl", "-lpthread"], check=True)
    return library


def compare(out: Path, a: str, b: str, *, repeats: int, seed: int, window: str) -> Any:
    """Compare two addresses by the command; return what `--json` prints."""
    command = (
        f"ils run lookup --target {{}} --entries {PEOPLE.size} --locales en_US --users 16 "
        f"--warmup 200ms --measure {window}"
    )
    argv = ("compare", a, b, "--interleave", command, "--json")
    how = ("--repeats", str(repeats), "--seed", str(seed), "--out", str(out))
    # Other programs may end soon; otherwise the comparison runs beside them.
    eventually(calm, within_s=CALM_S)
    words = [*_ends_with_us(), *SITEBENCH, *argv, *how]
    with pinned(TESTER_CORE), undisturbed():
        process = Popen(words, stdout=PIPE, stderr=PIPE, text=True)
    try:
        said, err = process.communicate()
    finally:
        process.kill()
    assert process.returncode == 0, err
    return json.loads(said)
