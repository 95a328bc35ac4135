"""Seeding of directories, and removal of the seeded people.

Person `i` of a population is the same for every process that has its seed, profile, locales and
base, so people are ranges of keys. A run may die at any moment and leaves nothing that `sitebench
ils clean` cannot find, by this protocol:

Keys 0 to size - 1 are seeded people: `seed` adds them for good, a measurement adds missing ones and
removes them afterwards. Keys from `journal.FIRST_ADDED` on are added by Add operations.

Before its first Add in a directory of the user's, a process writes a `journal.Reservation`
atomically: the keys [start, stop), the directory, and the process by id and start time. Keys to add
begin at random within a wide range, since other users have other journals; an exclusive lock keeps
reservations of one journal apart. People of `seed` have no reservation, nor has a target that is
deleted afterwards.

`clean.remove` deletes blocks of keys from `start` on, advances the reservation after each, and
deletes its file after the last. It may stop after a long range of missing people, as keys are
handed out in order; not if the run also removed people, or seeded them. A run that removes its own
people knows how many keys it took (`clean.Added`).

A reservation is abandoned if no process of its id and start time runs; `clean` removes the people
of abandoned reservations only. A point's process that still removes people
(`journal.unfinished_reservation`) is waited for.

The folder of a slapd needs no journal: a marker file names its population without the size, and a
lock file, which slapadd inherits, keeps other seedings out until the last entries of a killed
seeding are in. The people in the database are then compared and completed.
"""
