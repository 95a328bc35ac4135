"""Removing what runs added: at their end, and after a crash by the journal.

Keys are handed out in order, in small blocks, so removal goes on from the first and may stop at
the first long range in which no person was there. Where the run also removed people, such a range
may lie before those that it had not come to: then removal goes as far as the run did.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ils_bench.seeding import journal
from ils_bench.seeding.journal import Reservation
from ils_bench.targets.target import OpenDirectory
from seeders.people import generate
from sitebench._engine import remove_people
from sitebench.system.native_errors import translated

CHUNK = 10_000
"""Keys in a row that must be empty before the rest is taken to be empty too: more than all threads
together can have taken and not yet added."""


def remove_seeded(target: OpenDirectory) -> None:
    """Remove the people that this process added to the seeded ones, as far as it came."""
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
    """Remove a reservation's people, delete it, and return how many people were there.

    `added` is how many its run has added, if that is known.
    """
    population = generate(reservation.people).population
    config, removed = target.to_engine(), 0
    scan_to = _scan_to(reservation, added)
    for start in range(reservation.start, reservation.stop, CHUNK):
        stop = min(start + CHUNK, reservation.stop)
        with translated():
            found = remove_people(config, population, start, stop)
        removed += found
        progress(removed)
        if found == 0 and stop >= scan_to:
            break
        # After an interruption, `clean` goes on from here.
        journal.advance(reservation, stop)
    journal.release(reservation)
    return removed


def _scan_to(reservation: Reservation, added: int | None) -> int:
    """Return the key up to which an empty range must not end the scan."""
    if reservation.start < journal.FIRST_ADDED or (reservation.sparse and added is None):
        return reservation.stop
    # An interrupted removal may have emptied the first chunk; threads hold keys back.
    return reservation.start + 2 * CHUNK + (added or 0 if reservation.sparse else 0)
