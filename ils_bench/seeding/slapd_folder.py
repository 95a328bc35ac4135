"""A folder for slapd: configuration, schema, and a database filled offline.

slapadd reads people from a pipe, so no LDIF file takes room. After an interruption the people in
the database are read back and checked, and missing people are added. slapadd adds in order, commits
many entries at once, and gets whole entries only: a write of up to PIPE_BUF bytes to a pipe is
atomic (POSIX, write).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import psutil

from ils_bench.targets import openldap
from ils_bench.targets.openldap import DATA, find, last_line_of, write_config
from sitebench._engine import Contents, LdifCount
from sitebench.errors import BadInput
from sitebench.seeders import Profile
from sitebench.seeders.ldif import pieces
from sitebench.seeders.people import People, Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system.native_errors import translated
from sitebench.units import plural

_Progress = Callable[[int], object]
"""Called with the number of people in the database."""

_MARKER, _DRAFT = "people.json", "people.json.new"
_READ_BYTES = 1 << 20
_LOCK_S = 30.0
"""Time limit for the slapadd of a killed seeding to end."""


def fill(spec: Spec, folder: Path, progress: _Progress = lambda written: None) -> None:
    find("slapadd")
    people = generate(spec)
    make_hashes(people)
    _prepare(people, folder)
    nothing = people.population.contents(0, 0)
    with _exclusive_lock(folder) as lock:
        begun = (folder / DATA / "data.mdb").exists()
        present = read(folder, progress, profile=spec.profile) if begun else nothing
        if present.people > spec.size:
            raise BadInput(
                f"{folder} holds {plural(present.people, 'person', 'people')} already",
                "ask for as many, or name another folder",
            )
        if present != people.population.contents(0, present.people):
            raise BadInput(
                f"{folder} holds something else than the first "
                f"{plural(present.people, 'person', 'people')}",
                "remove it, or name another folder",
            )
        if present.people < spec.size:
            _add(people, folder, present.people, lock, progress)


def command(folder: Path, url: str = "ldap://127.0.0.1:3890/") -> str:
    config = str(folder.resolve() / "slapd.conf")
    return shlex.join([find("slapd"), "-d", "0", "-f", config, "-h", url])


def read(
    folder: Path, progress: _Progress = lambda read_people: None, *, profile: Profile = "paper"
) -> Contents:
    argv = [find("slapcat"), "-f", str(folder / "slapd.conf")]
    count = LdifCount(profile)
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=output) as slapcat:
            assert slapcat.stdout is not None
            while piece := slapcat.stdout.read(_READ_BYTES):
                with translated():
                    count.feed(piece)
                progress(count.people)
        if slapcat.returncode != 0:
            raise BadInput(
                f"slapcat cannot read {folder}: {last_line_of(output)}",
                "name a folder that `sitebench ils seed --to slapd:` made",
            )
    with translated():
        return count.finish()


def _prepare(people: People, folder: Path) -> None:
    """Write all files but the database; refuse a folder of another population or program."""
    marker = folder / _MARKER
    # The size is left out, because a larger population begins with the same people.
    identity = people.manifest() | {"spec": {**people.spec.to_dict(), "size": None}}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if marker.exists():
            stored = None
            with contextlib.suppress(ValueError):
                stored = json.loads(marker.read_text())
            if stored != identity:
                raise BadInput(
                    f"{folder} holds other people than those asked for",
                    "give the options it was made with, or name another folder",
                )
        elif any(path.name != _DRAFT for path in folder.iterdir()):
            raise BadInput(f"{folder} is not empty", "name a folder that is not there yet")
        else:
            # The marker names the population of the folder, so it is written atomically.
            draft = folder / _DRAFT
            draft.write_text(json.dumps(identity))
            draft.rename(marker)
        write_config(folder.resolve(), people.spec)
    except OSError as error:
        raise BadInput(
            f"cannot write to {folder}: {error.strerror}", "name a writable folder"
        ) from error


@contextlib.contextmanager
def _exclusive_lock(folder: Path) -> Iterator[IO[bytes]]:
    """Lock the folder against other seedings and a running slapd; slapadd inherits the lock."""
    with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
        if psutil.Process(int((folder / "slapd.pid").read_text())).name() == "slapd":
            raise BadInput(
                f"slapd is running on {folder}", "stop it, or fill it with --to ldap://host:port"
            )
    give_up = time.monotonic() + _LOCK_S
    with (folder / "lock").open("wb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > give_up:
                    raise BadInput(f"another program is filling {folder}", "wait for it") from None
                time.sleep(0.1)
            else:
                break
        yield lock


def _add(people: People, folder: Path, present: int, lock: IO[bytes], progress: _Progress) -> None:
    if present == 0:
        # A database without people can have containers, which cannot be added again.
        shutil.rmtree(folder / DATA)
        (folder / DATA).mkdir()
    batches = pieces(people.population, present, people.spec.size, containers=present == 0)
    openldap.fill(folder / "slapd.conf", batches, progress, [lock.fileno()])
