"""Removing what runs added: at their end, and after a crash by the journal.

Keys are handed out in order, in small blocks, so removal goes on from the first and may stop at
the first long range in which no person was there. Where the run also removed people, such a range
may lie before those that it had not come to: then removal goes as far as the run did.

Where a person is missing, the next one is looked for: to look costs a server less than a delete
in vain, which waits for its lock on writing and stands in its log.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ils_bench.seeding import journal
from ils_bench.seeding.journal import Reservation
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population, first_person, remove_people
from sitebench.errors import SitebenchError
from sitebench.seeders.people import generate
from sitebench.system.native_errors import translated

CHUNK = 10_000
"""Keys in a row that must be empty before the rest is taken to be empty too: more than all threads
together can have taken and not yet added."""

_BLOCK = 1_000
"""Keys deleted at a time, or an eighth of those so far: as many may be asked for in vain."""


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
    config, removed, empty = target.to_engine(), 0, 0
    scan_to, end = _scan_to(reservation, added), reservation.stop
    try:
        there = _first_person(config, population, reservation.start, end)
    except SitebenchError:
        there = None
    # Who may delete people need not see them: looking is of use where it has found one.
    sees = there is not None
    at = reservation.start if there is None else there
    while at < end and (empty < CHUNK or at < scan_to):
        stop = min(at + max(_BLOCK, min(removed // 8, CHUNK)), end)
        with translated():
            found = remove_people(config, population, at, stop)
        removed += found
        progress(removed)
        empty = 0 if found else empty + stop - at
        if sees and found < stop - at:
            there = _first_person(config, population, stop, end)
            empty = CHUNK if there is None else 0
            stop = min(stop + CHUNK, end) if there is None else there
        at = stop
        # After an interruption, `clean` goes on from here.
        journal.advance(reservation, at)
    journal.release(reservation)
    return removed


def _first_person(config: str, population: Population, start: int, end: int) -> int | None:
    """Return the key of the next person who is there, or None if the next `CHUNK` are not."""
    with translated():
        return first_person(config, population, start, min(start + CHUNK, end))


def _scan_to(reservation: Reservation, added: int | None) -> int:
    """Return the key up to which an empty range must not end the scan."""
    if reservation.start < journal.FIRST_ADDED or (reservation.sparse and added is None):
        return reservation.stop
    # An interrupted removal may have emptied the first chunk; threads hold keys back.
    return reservation.start + 2 * CHUNK + (added or 0 if reservation.sparse else 0)
