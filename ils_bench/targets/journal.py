"""The journal of people that runs added to the user's directories.

A reservation is a file with one line of JSON under `$XDG_STATE_HOME/sitebench/journal`, without
passwords; `ils_bench.seeding` describes the protocol.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import psutil
from msgspec.structs import asdict, replace

from sitebench.seeders import Profile
from sitebench.seeders.people import Spec

FIRST_ADDED = 1_000_000_000
"""Key of the first person that a run adds, beyond all seeded people."""
ROOM = 9 * FIRST_ADDED
"""Number of keys with as many digits as FIRST_ADDED, which gives all names the same length."""


class Reservation(msgspec.Struct, frozen=True):
    """Reserved people [start, stop) of a population, and the process that adds them."""

    id: str
    target: str
    base: str
    bind_dn: str | None
    profile: Profile
    seed: int
    locales: tuple[str, ...]
    start: int
    stop: int
    pid: int
    began: float
    sparse: bool = False
    """Whether the run also removes people, which leaves gaps."""

    @property
    def people(self) -> Spec:
        return Spec(self.stop, self.seed, self.profile, self.locales, self.base)

    @property
    def removal(self) -> str:
        return f"removing the people that were added to {self.target}"

    @property
    def is_abandoned(self) -> bool:
        """Whether the process has ended or is a zombie, which adds no more people."""
        try:
            process = psutil.Process(self.pid)
            return process.create_time() != self.began or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


def folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "sitebench" / "journal"


def entries() -> Iterator[Reservation]:
    """Yield every reservation; other files are skipped."""
    for path in sorted(folder().glob("*.json")):
        try:
            document = json.loads(path.read_text())
            yield Reservation(**{**document, "locales": tuple(document["locales"])})
        except (OSError, ValueError, TypeError, KeyError):
            continue


def reserve(
    target: str,
    people: Spec,
    *,
    bind_dn: str | None,
    keys: int,
    first: int | None = None,
    sparse: bool = False,
) -> Reservation:
    """Reserve `keys` people: from `first` on, or by default from a free key.

    Keys from `first` on (seeded people) can already be in the reservation of a crashed run.
    """
    process = psutil.Process()
    with _exclusive_lock():
        start = _first_free(target, people.base, keys) if first is None else first
        reservation = Reservation(
            uuid.uuid4().hex,
            target,
            people.base,
            bind_dn,
            people.profile,
            people.seed,
            people.locales,
            start,
            start + keys,
            process.pid,
            process.create_time(),
            sparse,
        )
        _write(reservation)
    return reservation


def unfinished_reservation(pid: int) -> Reservation | None:
    return next((entry for entry in entries() if entry.pid == pid and not entry.is_abandoned), None)


@contextmanager
def _exclusive_lock() -> Iterator[None]:
    """Exclude other processes of this user while a free range is chosen."""
    folder().mkdir(parents=True, exist_ok=True)
    with folder().with_suffix(".lock").open("a") as file:
        with suppress(OSError):  # Some file systems have no locks.
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def advance(reservation: Reservation, start: int) -> None:
    _write(replace(reservation, start=start))


def _write(reservation: Reservation) -> None:
    path = _path(reservation)
    draft = path.with_suffix(".new")
    with draft.open("w") as file:
        file.write(json.dumps(asdict(reservation)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)


def _first_free(target: str, base: str, keys: int) -> int:
    """Return the start of `keys` keys that are in no reservation for this directory."""
    start = FIRST_ADDED + secrets.randbelow(max(1, ROOM // keys)) * keys
    for reservation in sorted(entries(), key=lambda entry: entry.start):
        same_place = (reservation.target, reservation.base) == (target, base)
        if same_place and reservation.start < start + keys and start < reservation.stop:
            start = reservation.stop
    return start


def release(reservation: Reservation) -> None:
    _path(reservation).unlink(missing_ok=True)


def _path(reservation: Reservation) -> Path:
    return folder() / f"{reservation.id}.json"
