"""Removing what runs added: at their end, and after a crash by the journal.

Keys are handed out in order, in small blocks, so removal goes on from the first and may stop at
the first long range in which no person was there. Where the run also removed people, such a range
may lie before those that it had not come to: then removal goes as far as the run did.

Where a person is missing, the next one is looked for: to look costs a server less than a delete
in vain, which waits for its lock on writing and stands in its log. A run knows how many keys it
took, so at its end about one request is sent for each person; a crash leaves only the range.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from ils_bench.targets import journal
from ils_bench.targets.journal import Reservation
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import first_person, remove_people
from sitebench.errors import SitebenchError
from sitebench.seeders.people import generate
from sitebench.system.native_errors import translated

CHUNK = 10_000
"""Keys in a row that must be empty before the rest is taken to be empty too: more than all threads
together can have taken and not yet added."""

KEYS_OF_A_THREAD = 256
"""Keys that a thread of the engine takes at a time, and may not have come to (`ring.rs`)."""

_BLOCK = 1_000
"""Keys deleted at a time, or an eighth of those so far: as many may be asked for in vain."""


class Added(msgspec.Struct, frozen=True):
    """The people that a run added."""

    keys: int
    """How many it took, whatever became of the adds."""
    people: int
    """How many may be there: those that were added, and those whose add was not answered."""
    gap: int
    """How many keys in a row may be empty although people follow."""


def remove_seeded(target: OpenDirectory) -> None:
    """Remove the people that this process added to the seeded ones."""
    for reservation in list(journal.entries()):
        is_here = (reservation.target, reservation.base) == (str(target.address), target.base)
        is_own = reservation.pid == os.getpid() and is_here
        if is_own and reservation.start < journal.FIRST_ADDED:
            remove(reservation, target)


def remove(
    reservation: Reservation,
    target: OpenDirectory,
    progress: Callable[[int], object] = lambda removed: None,
    added: Added | None = None,
) -> int:
    """Remove a reservation's people, delete it, and return how many people were there.

    `added` is what its run knows of them.
    """
    if added is not None and not added.people:
        # Where every add was refused, a directory may refuse deletes too.
        journal.release(reservation)
        return 0
    population = generate(reservation.people).population
    config, removed, empty = target.to_engine(), 0, 0
    scan_to, end = _scan_to(reservation, added), reservation.stop
    gap = CHUNK if added is None else added.gap

    def next_person(key: int) -> int | None:
        last = key
        while key < end and (key - last < gap or key < scan_to):
            stop = min(key + CHUNK, end, max(scan_to, last + gap))
            with translated():
                person = first_person(config, population, key, stop)
            if person is not None:
                return person
            key = stop
        return None

    try:
        first = next_person(reservation.start)
    except SitebenchError:
        first = None
    # Who may delete people need not see them: looking is of use where it has found one.
    sees = first is not None
    key = reservation.start if first is None else first
    while key < end and (empty < gap or key < scan_to):
        block = max(_BLOCK, min(removed // 8, CHUNK))
        if added is not None and added.people > removed:
            block = min(block, added.people - removed)
        stop = min(key + block, end)
        with translated():
            removed_here = remove_people(config, population, key, stop)
        removed += removed_here
        progress(removed)
        empty = 0 if removed_here else empty + stop - key
        enough = added is not None and removed >= added.people
        if sees and (removed_here < stop - key or enough):
            first = next_person(stop)
            stop = end if first is None else first
        key = stop
        # After an interruption, `clean` goes on from here.
        journal.advance(reservation, key)
    journal.release(reservation)
    return removed


def _scan_to(reservation: Reservation, added: Added | None) -> int:
    """Return the key up to which an empty range must not end the scan."""
    if added is not None:
        return min(reservation.start + added.keys, reservation.stop)
    if reservation.start < journal.FIRST_ADDED or reservation.sparse:
        return reservation.stop
    # An interrupted removal may have emptied the first chunk; threads hold keys back.
    return reservation.start + 2 * CHUNK
