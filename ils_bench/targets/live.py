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
from sitebench._engine import Population, count_people, seed_directory
from sitebench.errors import BadInput, SitebenchError
from sitebench.seeders.people import Spec, generate
from sitebench.system.native_errors import translated
from sitebench.targets import ownership
from sitebench.targets.tls import Trust

Progress = Callable[[int, int], object]
"""Called with how many people are there, and how many are wanted."""


_SENT_AT_ONCE = 1_000
"""People who may have been added although the first was refused: more than are ever outstanding."""


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


def has_last(target: OpenDirectory, names: str, people: int) -> None:
    """Refuse a test of more people than the directory has: their lookups would all fail."""
    from ils_bench.targets.probe import connected, lacks

    last = names.replace("{i}", str(people - 1))
    with connected(target.address, target.who, target.trust, brief=True) as connection:
        if lacks(connection, target.base, f"({last})"):
            raise BadInput(
                f"{target.address} has no {last!r} below {target.base!r}",
                f"{{i}} runs from 0 to --entries - 1: give --entries as many as there are, not "
                f"{people:,}, or another --names",
            )


def count_seeded(target: OpenDirectory, population: Population) -> int:
    """Return how many people are there, from the first on without a gap."""
    with translated():
        return count_people(target.to_engine(), population)


def _none_added(target: OpenDirectory, population: Population, start: int, stop: int) -> bool:
    """Return whether a seeding that failed added no one: the first add was refused."""
    from ils_bench.targets.probe import connected, exists

    try:
        with connected(target.address, target.who, target.trust) as connection:
            sent = range(start, min(stop, start + _SENT_AT_ONCE))
            return not any(exists(connection, population.dn(i)) for i in sent)
    except SitebenchError:
        return False


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
    try:
        with translated():
            seed_directory(
                target.to_engine(),
                population,
                present,
                people.size,
                lambda done: progress(present + done, people.size),
            )
    except SitebenchError:
        if reservation is not None and _none_added(target, population, present, people.size):
            journal.release(reservation)
        raise
    if reservation is None:
        return lambda: None
    return lambda: clean.remove(reservation, target)
