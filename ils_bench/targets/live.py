"""A directory of the user's: probed, filled with the people that are missing, and left as it was.

The people of a larger size begin with those of a smaller one, so bisection finds the first that is
missing; a directory that holds all of them is not written to.
"""

from __future__ import annotations

from collections.abc import Callable

from ils_bench.options import DirectoryOptions
from ils_bench.seeding import clean, journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import identity_of
from ils_bench.targets.target import OpenDirectory
from seeders.people import Spec, generate
from sitebench._engine import Population, count_people, seed_directory
from sitebench.system.native_errors import translated
from sitebench.targets import ownership
from sitebench.targets.tls import Trust

Progress = Callable[[int, int], object]
"""Called with how many people are there, and how many are wanted."""


def assure_own(options: DirectoryOptions, what: str) -> None:
    """Raise NotYours unless `what` may write to the directory that options name."""
    address = parse_address(options.target)
    ownership.assure_own(address.host, address.port, owned=options.i_own_this_target, what=what)


def open_live(options: DirectoryOptions) -> OpenDirectory:
    """Address a directory that runs already; raises what is wrong with it."""
    from ils_bench.targets.probe import probe, root_dse

    address = parse_address(options.target, start_tls=options.start_tls)
    who, trust = identity_of(options), Trust.of(options)
    probe(address, options.base, who, trust)
    facts = root_dse(address, who, trust)
    return OpenDirectory(
        "the directory",
        address,
        options.base,
        who,
        owned=options.i_own_this_target,
        facts=facts,
        trust=trust,
        ca=options.tls_ca,
    )


def count_seeded(target: OpenDirectory, population: Population) -> int:
    """Return how many people are there, from the first on without a gap."""
    with translated():
        return count_people(target.to_engine(), population)


def seed(
    target: OpenDirectory, people: Spec, progress: Progress, *, keep: bool
) -> Callable[[], object]:
    """Add the people that are missing; return what removes them again.

    Unless they are to be kept, they are in the journal until they are removed.
    """
    population = generate(people).population
    present = count_seeded(target, population)
    if present >= people.size:
        return lambda: None
    target.assure_own("adding people")
    reservation = None
    if not keep:
        reservation = journal.reserve(
            str(target.address),
            people,
            bind_dn=target.who.dn,
            keys=people.size - present,
            first=present,
        )
    with translated():
        seed_directory(
            target.to_engine(),
            population,
            present,
            people.size,
            lambda done: progress(present + done, people.size),
        )
    if reservation is None:
        return lambda: None
    return lambda: clean.remove(reservation, target)
