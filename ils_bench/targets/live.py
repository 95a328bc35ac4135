"""A directory of the user's: it is probed, and entries that a test adds are removed.

A test that needs people uses the people in the directory, or adds missing people and removes them
again. It adds people only with --i-own-this-target, or for an operation that adds people anyway. A
larger population begins with the people of a smaller one, so bisection finds the first missing
person. Nothing is written to a complete directory.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from ils_bench.names import Names, names_of
from ils_bench.options import DirectoryOptions, LoadTestOptions
from ils_bench.programs import is_login
from ils_bench.targets import clean, journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import ANONYMOUS, identity_of
from ils_bench.targets.password_schemes import assure_taken, server_of
from ils_bench.targets.people import spec_of, which_people
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import Population, count_people, seed_directory
from sitebench.errors import BadInput, SitebenchError
from sitebench.measure.point_process import CLEANUP_NOTICE_S, LEAVES, REMOVED
from sitebench.scenario.script import Script
from sitebench.seeders.people import Spec, easily_typed, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system.native_errors import translated
from sitebench.targets import ownership
from sitebench.targets.tls import Trust
from sitebench.units import format_duration, format_size, plural

Progress = Callable[[int, int], object]
"""Called with the number of people so far, and the total."""


_PIECES = (100, 2_000)
"""Sizes of the first batches, by which the time for all people is estimated. The second batch is
added if the first took less than a second."""
_TELLING_S = 1.0
_WORTH_SAYING_S = 10.0
_IN_MINUTES_S = 300.0

_LOOKED_FOR = 50
"""Number of later people that are searched, as a sample, before missing people are added."""

_SENT_AT_ONCE = 1_000
"""Upper bound of adds in flight when the directory refuses the first add."""


_PACKAGED: Final = 1 << 30
"""Size limit in Debian's package (olcDbMaxSize); clients cannot read the actual limit."""
_ENOUGH: Final = 0.8
_BYTES: Final = {"person": 1_600, "posix": 1_650, "paper": 4_600}
"""Bytes of a person in an mdb database with the package's indexes; measured with 20,000 people and
{SSHA}."""
_FULL: Final = ("txn_commit failed", "entry store failed")
"""Diagnostics of slapd 2.5 for a full database, with the result other (80)."""


def _is_slapd(target: OpenDirectory) -> bool:
    server = server_of(target.facts)
    return server is not None and server.name == "OpenLDAP"


def say_room(target: OpenDirectory, people: Spec) -> None:
    takes = people.size * _BYTES.get(people.profile, 0)
    if takes < _ENOUGH * _PACKAGED or not _is_slapd(target):
        return
    from sitebench.measure.command import say

    say(
        f"{people.size:,} people of the profile {people.profile} take about "
        f"{takes / 2**30:.1f} GiB of a slapd's database, and as packaged it has 1 GiB: see that "
        "its olcDbMaxSize (maxsize) is larger"
    )


def explain_full(target: OpenDirectory, error: SitebenchError) -> SitebenchError:
    """Return an error of slapd, with the remedy if its database is full."""
    if not (_is_slapd(target) and any(phrase in error.message for phrase in _FULL)):
        return error
    return type(error)(
        error.message,
        "its database is full, as it looks: set olcDbMaxSize (maxsize; 1 GiB as packaged) to more, "
        "and run it again to go on",
    )


def assure_encrypted(options: DirectoryOptions) -> None:
    address = parse_address(options.target, start_tls=options.start_tls)
    if options.profile == "ad" and not address.is_encrypted:
        raise BadInput(
            f"{address} is without TLS, and Active Directory takes passwords over TLS only",
            "name its ldaps:// address, or add --start-tls",
        )


def open_live(options: DirectoryOptions, *, base: bool = True, seen: bool = True) -> OpenDirectory:
    """Return a running directory after a probe of it and, with `base`, of its base.

    With `seen=False`, an anonymous search need not find the base.
    """
    from ils_bench.targets.probe import HiddenBase, WrongBase, probe, root_dse

    address = parse_address(options.target, start_tls=options.start_tls)
    identity, trust = identity_of(options), Trust.from_options(options)
    try:
        probe(address, options.base if base else None, identity, trust)
    except (HiddenBase, WrongBase):
        if seen or identity != ANONYMOUS:
            raise
    facts = root_dse(address, identity, trust)
    return OpenDirectory(
        "the directory",
        address,
        options.base,
        identity,
        owned=options.i_own_this_target,
        facts=facts,
        trust=trust,
        ca=options.tls_ca,
    )


def make_ready(
    target: OpenDirectory,
    options: LoadTestOptions,
    size: int,
    programs: Sequence[Script],
    progress: Progress,
) -> Callable[[], object]:
    """Add missing people that programs need; return the function that removes them.

    Raise if people are missing and permission to add them is missing.
    """
    needing = [program.name for program in programs if program.needs_people]
    adds = any(program.adding for program in programs)
    if options.names is not None:
        if needing:
            names = names_of(options.names)
            names.check(size)
            # Only native lanes verify names in answers.
            verified = options.verify != "none" and options.client == "native"
            _has_named(target, names, size, verified=verified, by_dn=any(p.by_dn for p in programs))
        return lambda: None
    people = spec_of(options, size)
    if (needing or adds) and target.owns(named=adds):
        assure_encrypted(options)
        return seed(target, people, progress, keep=False)[1]
    if needing:
        option = "--accounts accounts.csv"
        if not any(map(is_login, programs)):
            option = "--names @people.txt, or --names 'uid=user.{i}' where they are numbered"
        _has_people(target, people, ", ".join(needing), which_people(options), option)
    return lambda: None


def _has_named(
    target: OpenDirectory, names: Names, people: int, *, verified: bool, by_dn: bool
) -> None:
    """Refuse a test that would fail, because the directory lacks or hides the last person."""
    # Imported late: an import of ldap3 takes 0.2 s.
    from ldap3.utils.conv import escape_filter_chars
    from ldap3.utils.dn import escape_rdn

    from ils_bench.targets.probe import connect, find_entry, missing

    name, escaped = names.fill(people - 1), names.fill(people - 1, escape_filter_chars)
    with connect(target.address, target.who, target.trust, brief=True) as connection:
        entry = find_entry(connection, target.base, f"({escaped})", names.attribute)
    if entry is None:
        remedy = (
            f"{{i}} runs from 0 to --entries - 1: give --entries as many as there are, not "
            f"{people:,}, or another --names"
        )
        if names.table is not None:
            remedy = f"it is name {people:,} of {names.file}; the attribute that is searched is "
            remedy += f"{names.attribute}: another is named like @FILE:mail, or beside a column "
            remedy += "of another name like @FILE:Login=mail"
        entry_text = f"{name!r} below {target.base!r}"
        raise BadInput(*missing(target.address, target.who, entry_text, remedy))
    dn, is_shown = entry
    if not dn or _begins(dn, names.fill(people - 1, escape_rdn)):
        return
    attribute = dn.partition("=")[0]
    if by_dn:
        raise BadInput(
            f"{target.address}: found {dn!r}, expected the RDN {name!r}: --names must be the RDN",
            f"name people as the directory does, like --names '{attribute}=...{{i}}'",
        )
    if verified and not is_shown:
        raise BadInput(
            f"{target.address}: {dn!r}, found by {name!r}, does not show its {names.attribute}",
            "bind as a user who may read it, with --bind-dn; or add --verify none, and a lookup "
            "takes any entry for right",
        )


def _begins(dn: str, rdn: str) -> bool:
    first, rest = dn[: len(rdn)], dn[len(rdn) :]
    return first.lower() == rdn.lower() and rest[:1] in ("", ",", ";", " ", "+")


def _has_people(
    target: OpenDirectory, people: Spec, operations: str, kinds: str, names_option: str
) -> None:
    """Refuse a test if the directory lacks the last person, or one of the first people.

    The error's remedy has `kinds`, further options of the `seed` command that adds the people, and
    `names_option`, the options by which a test uses people of the directory instead.
    """
    from ils_bench.targets.probe import connect, exists, missing

    population = generate(people).population
    with connect(target.address, target.who, target.trust, brief=True) as connection:
        for number in (easily_typed(population), people.size - 1):
            if not exists(connection, dn := population.dn(number)):
                command = shlex.quote(f"{target.address}/{target.base}")
                command += f" --entries {format_size(people.size)}{kinds}"
                message, remedy = missing(
                    *(target.address, target.who, repr(dn)),
                    f"for your own people add {names_option}; for ours first run "
                    f"`sitebench ils seed --to {command}`; or add {ownership.FLAG}, and the run "
                    f"adds them and removes them again",
                )
                raise BadInput(f"{operations} needs people, and {message}", remedy)


def count_seeded(target: OpenDirectory, population: Population) -> int:
    """Return the number of people in the directory, up to the first missing one."""
    with translated():
        return count_people(target.to_engine(), population)


def _has_no_others(target: OpenDirectory, population: Population, first: int) -> None:
    """Refuse to add people if later people are present, which would be removed as well.

    The search is for a sample of the later people, and for the last person.
    """
    from ils_bench.targets.probe import connect, exists

    size = population.size
    looked_for = [*range(first, size, -(-(size - first) // _LOOKED_FOR)), size - 1]
    with connect(target.address, target.who, target.trust, brief=True) as connection:
        for number in looked_for:
            if exists(connection, dn := population.dn(number)):
                raise BadInput(
                    f"{target.address} has {dn!r}, but not all people before and behind it",
                    "a run would remove all of them again: first add those who are missing, to "
                    "stay, with `sitebench ils seed`, or remove all with `sitebench ils clean "
                    "--seeded`",
                )


def _none_added(target: OpenDirectory, population: Population, start: int, stop: int) -> bool:
    from ils_bench.targets.probe import connect, exists

    try:
        with connect(target.address, target.who, target.trust) as connection:
            sent = range(start, min(stop, start + _SENT_AT_ONCE))
            return not any(exists(connection, population.dn(i)) for i in sent)
    except SitebenchError:
        return False


def seed(
    target: OpenDirectory, people: Spec, progress: Progress, *, keep: bool
) -> tuple[int, Callable[[], object]]:
    """Add missing people; return their number, and the function that removes them.

    Unless `keep`, the journal records the added people until they are removed.
    """
    generated = generate(people)
    population = generated.population
    present = count_seeded(target, population)
    if present >= people.size:
        return 0, lambda: None
    assure_taken(target, people)
    say_room(target, people)
    make_hashes(generated)
    reservation = None
    if not keep:
        _has_no_others(target, population, present)
        reservation = journal.reserve(
            str(target.address),
            people,
            bind_dn=target.who.dn,
            keys=people.size - present,
            first=present,
        )
    try:
        added = _add(target, population, present, progress)
    except KeyboardInterrupt:
        if reservation is not None:
            _remove(reservation, target)
        raise
    except SitebenchError as error:
        if reservation is not None and _none_added(target, population, present, people.size):
            journal.release(reservation)
        raise explain_full(target, error) from error
    if reservation is None:
        return added, lambda: None
    return added, lambda: _remove(reservation, target)


def _add(target: OpenDirectory, population: Population, present: int, progress: Progress) -> int:
    """Add people from number `present` on, and return how many people were missing.

    After the first batches, announce the estimated time for the remaining people.
    """
    config, size, total = target.to_engine(), population.size, 0

    def add(start: int, stop: int) -> float:
        nonlocal total
        began = time.monotonic()
        with translated():
            total += seed_directory(
                config, population, start, stop, lambda count: progress(start + count, size)
            )
        return time.monotonic() - began

    for piece in _PIECES:
        stop = min(present + piece, size)
        took, added = add(present, stop), stop - present
        present = stop
        if present == size:
            return total
        if took >= _TELLING_S:
            break
    left_s = (size - present) * took / added
    if left_s >= _WORTH_SAYING_S:
        from sitebench.measure.command import say

        unit = 60 if left_s >= _IN_MINUTES_S else 1
        say(
            f"{size - present:,} more people take about "
            f"{format_duration(unit * round(left_s / unit))}, at {added / took:,.0f} a second as "
            f"the {added:,} before them"
        )
    add(present, size)
    return total


def _remove(reservation: journal.Reservation, target: OpenDirectory) -> None:
    began, is_told = time.monotonic(), False

    def progress(removed: int) -> None:
        nonlocal is_told
        if not is_told and time.monotonic() - began > CLEANUP_NOTICE_S:
            is_told = True
            print(f"{reservation.removal}{LEAVES}", file=sys.stderr, flush=True)

    say_removed(target, clean.remove(reservation, target, progress))


def say_removed(target: OpenDirectory, removed: int) -> None:
    if removed:
        print(
            f"{REMOVED}{plural(removed, 'person', 'people')} of this run from {target.address}",
            file=sys.stderr,
        )
