"""The journal: what runs have added to directories of the user's, so that it can be removed again.

One file per reservation under `$XDG_STATE_HOME/sitebench/journal`, one line of JSON in it; the
package says when it is written and deleted. Passwords are never in it.
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
"""Key of the first person a run adds: far beyond any that is seeded."""
ROOM = 9 * FIRST_ADDED
"""Number of keys from there on with as many digits, and so with names of the same length."""


class Reservation(msgspec.Struct, frozen=True):
    """People [start, stop) of a population in a directory, and the process that adds them."""

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
    """Whether the run also removes people, so that those left may be anywhere among these."""

    @property
    def people(self) -> Spec:
        """The population up to the last of the reserved people."""
        return Spec(self.stop, self.seed, self.profile, self.locales, self.base)

    @property
    def removal(self) -> str:
        return f"removing the people that were added to {self.target}"

    @property
    def is_abandoned(self) -> bool:
        """Whether the process that made it is gone; a zombie adds no more people."""
        try:
            process = psutil.Process(self.pid)
            return process.create_time() != self.began or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


def folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "sitebench" / "journal"


def entries() -> Iterator[Reservation]:
    """Yield every reservation; files that cannot be read as one are skipped."""
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
    """Reserve `keys` people: from `first` on, or else from the first key that is free here.

    Seeded keys are reserved even if a crashed run left some behind; keys of added people are not.
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
    """Return a reservation whose people a running process has still to remove, or None."""
    return next((entry for entry in entries() if entry.pid == pid and not entry.is_abandoned), None)


@contextmanager
def _exclusive_lock() -> Iterator[None]:
    """Keep this user's other processes from looking for free keys meanwhile."""
    folder().mkdir(parents=True, exist_ok=True)
    with folder().with_suffix(".lock").open("a") as file:
        with suppress(OSError):  # Some file systems have no locks.
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def advance(reservation: Reservation, start: int) -> None:
    """Record that no person before `start` is left."""
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
    """Return the first of `keys` keys in a row that no reservation of this directory has."""
    start = FIRST_ADDED + secrets.randbelow(max(1, ROOM // keys)) * keys
    for other in sorted(entries(), key=lambda entry: entry.start):
        same_place = (other.target, other.base) == (target, base)
        if same_place and other.start < start + keys and start < other.stop:
            start = other.stop
    return start


def release(reservation: Reservation) -> None:
    """Delete a reservation whose people are no longer in the directory."""
    _path(reservation).unlink(missing_ok=True)


def _path(reservation: Reservation) -> Path:
    return folder() / f"{reservation.id}.json"
