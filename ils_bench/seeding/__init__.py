"""Filling directories with people, and removing them again.

Person `i` of a population is the same for every process that knows its seed, profile, locales and
base, so people are handled as ranges of keys. What follows is the protocol that the modules here
keep, with `journal` and `clean` of `ils_bench.targets`, so that a run that dies at any moment
leaves nothing that `sitebench ils clean` cannot find.

Who owns which keys
    Keys 0 to size - 1 are people that are seeded. `seed` (`commands`) adds them to stay; a
    measurement adds those that are missing, and removes the same ones afterwards. Keys from
    `journal.FIRST_ADDED` on are people that a run adds (Add operations): far beyond any size, so
    that removing them never removes a seeded person.

A reservation comes first
    Before its first Add in a directory of the user's, a process writes a `journal.Reservation`:
    the keys [start, stop), the directory, and the process by id and start time. It is one file,
    written atomically and synced. Seeded keys are given; keys to add begin at random within a
    wide range, since other users of the same directory have other journals, and never overlap a
    reservation of this journal: `journal` looks for them under an exclusive lock. People that
    `seed` adds to stay have no reservation, and neither has a target that is thrown away.

Removal goes from the first key on
    `clean.remove` deletes in blocks from `start`, advances the reservation after each, and deletes
    its file after the last. Where a block was not full it looks for the next person. It may stop
    where a long row of keys is empty, because they are handed out in order; not so where the run
    also removed people itself, or where the keys were seeded. A run that removes its own knows how
    many keys it took, and looks only as far as its threads may have taken more (`clean.Added`).

When a process dies
    Its reservation stays, and is abandoned: no process of that id and start time runs. `clean`
    takes abandoned reservations only, and begins where `start` has come to. As long as the process
    runs, its reservation is its own: `journal.unfinished_reservation` says that it still removes
    people, and a point's process is waited for on that ground.

A slapd's folder needs no journal
    `slapd_folder` fills a database offline. A marker file in the folder says for which population
    it is, without its size. A lock file keeps other seedings out; slapadd inherits the
    lock, so that it is held until a killed seeding's last entries are in. What the database then
    holds is read back, compared with the first people of the population, and completed.
"""
