"""Seeding of directories, and removal of the seeded people.

Person `i` of a population is the same for every process that has its seed, profile, locales and
base, so a range of keys identifies people. By this protocol, `sitebench ils clean` can remove all
people that a killed run left:

Keys 0 to size - 1 are seeded people: `seed` adds them permanently, and a measurement adds missing
people and removes them afterwards. Keys from `journal.FIRST_ADDED` on are added by Add operations.

Before its first Add in a directory of the user's, a process writes a `journal.Reservation`
atomically: the keys [start, stop), the directory, and the process by id and start time. Keys to add
begin at random within a wide range, since other users have other journals; an exclusive lock
prevents that reservations of one journal overlap. People that `seed` adds have no reservation, and
people in a target that is deleted after the test have none either.

`clean.remove` deletes blocks of keys from `start` on, advances the reservation after each, and
deletes its file after the last. Because keys are handed out in order, removal may stop after a long
range of missing people. If the run also removed or seeded people, removal does not stop early. A
run that removes its own people knows how many keys it took (`clean.Added`).

A reservation is abandoned if no process of its id and start time runs; `clean` removes the people
of abandoned reservations only. If a point's process still removes people
(`journal.unfinished_reservation`), the command waits for it.

The folder of a slapd needs no journal: a marker file names its population without the size, and a
lock file, which slapadd inherits, keeps other seedings out until the last entries of a killed
seeding are in. The people in the database are then compared and completed.
"""
