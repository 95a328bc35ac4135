"""Servers in separate processes that a test can stop, kill, and restart with or without people."""

import contextlib
import json
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ils_bench.seeding import slapd_folder
from ils_bench.targets.openldap import DATA
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.upd import UpdSpec, build
from sitebench.system.network import free_port
from tests.support.programs import listens
from tests.support.waiting import eventually

SUFFIX = "o=Intranet"
SERVE = """
import sys
from sitebench import _engine
serving = getattr(_engine, sys.argv[1])(sys.argv[2])
sys.stdin.read()
"""


class Mortal:
    """A server with a fixed port; `argv` is its command, with or without people."""

    def __init__(self, scheme: str, argv: Callable[[int, bool], list[str]]) -> None:
        self.scheme = scheme
        self.port = free_port()
        self._argv = argv
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, empty: bool) -> None:
        """Start the server and wait until it listens."""
        self._process = subprocess.Popen(
            self._argv(self.port, empty),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(lambda: listens(self.port))

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the server with SIGSTOP; the kernel still accepts connections."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def mortal(kind: str, folder: Path, people: int, locales: tuple[str, ...]) -> Iterator[Mortal]:
    """Yield a "directory", a "slapd" or a "site" that serves people; an empty one has none."""
    folder.mkdir()
    if kind == "site":
        made = Mortal("http", _site(folder, people, locales))
    else:
        make = _slapd if kind == "slapd" else _directory
        made = Mortal("ldap", make(folder, Spec(people, locales=locales)))
    made.start(empty=False)
    try:
        yield made
    finally:
        made.kill()


def _directory(folder: Path, people: Spec) -> Callable[[int, bool], list[str]]:
    full, empty = folder / "people.ldif", folder / "empty.ldif"
    write_ldif(generate(people).population, full)
    entries = full.read_text().split("\n\n")
    empty.write_text("\n\n".join(entry for entry in entries if "RTPerson" not in entry) + "\n")

    def argv(port: int, without_people: bool) -> list[str]:
        config = {"port": port, "suffix": SUFFIX, "ldif": str(empty if without_people else full)}
        return [sys.executable, "-c", SERVE, "Directory", json.dumps(config)]

    return argv


def _slapd(folder: Path, people: Spec) -> Callable[[int, bool], list[str]]:
    place = folder / "slapd"
    slapd_folder.fill(people, place)

    def argv(port: int, without_people: bool) -> list[str]:
        if without_people:
            shutil.rmtree(place / DATA)
            (place / DATA).mkdir()
        return shlex.split(slapd_folder.command(place, f"ldap://127.0.0.1:{port}/"))

    return argv


def _site(folder: Path, people: int, locales: tuple[str, ...]) -> Callable[[int, bool], list[str]]:
    full, empty = folder / "people.upd", folder / "one.upd"
    build(UpdSpec(people, locales=locales), full)
    build(UpdSpec(1, locales=locales), empty)

    def argv(port: int, without_people: bool) -> list[str]:
        config = {"port": port, "database": str(empty if without_people else full)}
        return [sys.executable, "-c", SERVE, "Site", json.dumps(config)]

    return argv
