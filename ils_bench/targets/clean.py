"""Removal of people that runs added: at the end of a run, or later by the journal.

Where a person is missing, the next one is searched: a search costs a server less than a failed
delete, which takes the write lock and is logged. `ils_bench.seeding` describes the protocol.
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
"""After so many missing people in a row, all later people count as missing. All threads together
take fewer keys ahead of their adds.
"""

KEYS_OF_A_THREAD = 256
"""Number of keys that an engine thread takes at a time (`ring.rs`)."""

_BLOCK = 1_000
"""Smallest number of keys to delete at once; it grows to an eighth of the removed people."""


class Added(msgspec.Struct, frozen=True):
    keys: int
    """Number of adds of the run, including failed adds."""
    people: int
    """Upper bound of people in the directory: successful and unanswered adds."""
    gap: int
    """Upper bound of missing people in a row that further people can follow."""


def remove_seeded(target: OpenDirectory) -> None:
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
    """Remove a reservation's people, delete it, and return the number of removed people.

    `added` has the run's own counts; it is None after a crash.
    """
    if added is not None and not added.people:
        # A directory that refused every add can refuse deletes too.
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
    # An identity without permission to find people may have permission to delete them.
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
        # `clean` continues from here after an interruption.
        journal.advance(reservation, key)
    journal.release(reservation)
    return removed


def _scan_to(reservation: Reservation, added: Added | None) -> int:
    """Return the key up to which removal does not stop at missing people."""
    if added is not None:
        # Every thread can leave a part of its block unused, and another thread continues behind
        # that block.
        return min(reservation.start + added.keys + added.gap, reservation.stop)
    if reservation.start < journal.FIRST_ADDED or reservation.sparse:
        return reservation.stop
    # The first chunk can be empty after an interrupted removal.
    return reservation.start + 2 * CHUNK
