"""Removing what runs added: at their end, and after a crash by the journal.

Additions are handed out in order, in small blocks, so removal walks on from the first and may
stop at the first long stretch in which nothing was there. Where the run removed people itself,
such a stretch may lie before those whom its end interrupted: then it walks as far as the run came.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ils_bench.seeding import journal
from ils_bench.seeding.journal import Reservation
from ils_bench.targets.target import OpenDirectory
from seeders.people import Spec, generate
from sitebench._engine import remove_people
from sitebench.system.native_errors import translated

CHUNK = 10_000
"""How many people in a row must be missing before the rest is taken to be missing too: more than
all threads together can hold back of the keys they took."""


def remove_seeded(target: OpenDirectory) -> None:
    """Remove whom this process seeded there for a time, as far as it came."""
    for each in list(journal.entries()):
        here = (each.target, each.base) == (str(target.address), target.base)
        mine = each.pid == os.getpid() and here
        if mine and each.start < journal.FIRST_ADDED:
            remove(each, target)


def remove(
    reservation: Reservation,
    target: OpenDirectory,
    progress: Callable[[int], object] = lambda removed: None,
    added: int | None = None,
) -> int:
    """Remove a reservation's people, forget it, and return how many were there.

    `added` is how many its run has added, where anybody knows.
    """
    profile = reservation.profile
    population = generate(
        Spec(
            reservation.stop,
            reservation.seed,
            profile,  # type: ignore[arg-type]
            reservation.locales,
            reservation.base,
        )
    ).population
    config, removed = target.to_engine(), 0
    least = _least(reservation, added)
    for start in range(reservation.start, reservation.stop, CHUNK):
        stop = min(start + CHUNK, reservation.stop)
        with translated():
            found = remove_people(config, population, start, stop)
        removed += found
        progress(removed)
        if found == 0 and stop >= least:
            break
        # Whoever goes on after an interruption begins here.
        journal.advance(reservation, stop)
    journal.release(reservation)
    return removed


def _least(reservation: Reservation, added: int | None) -> int:
    """Return before whom a stretch of nobody is no end."""
    if reservation.start < journal.FIRST_ADDED or (reservation.sparse and added is None):
        return reservation.stop
    # Of the first stretch an interrupted removal may have left nobody; threads hold keys back.
    return reservation.start + 2 * CHUNK + (added or 0 if reservation.sparse else 0)
