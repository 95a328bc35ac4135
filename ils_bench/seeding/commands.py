"""`sitebench ils seed`, `verify` and `clean`."""

from __future__ import annotations

import io
import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ils_bench.options import SeedOptions
from ils_bench.seeding import slapd_folder
from ils_bench.seeding.destinations import (
    Destination,
    LdifFile,
    LiveDirectory,
    SlapdFolder,
    Stream,
    parse_destination,
    with_base,
)
from ils_bench.seeding.logins import check_accounts, check_logins, write_accounts
from ils_bench.targets import clean, journal
from ils_bench.targets.address import parse_address
from ils_bench.targets.groups import groups_of, ldif_of, spec_of_groups
from ils_bench.targets.identity import ask_password, identity_of
from ils_bench.targets.live import assure_encrypted, open_live, seed
from ils_bench.targets.opening import OWN_TARGETS
from ils_bench.targets.password_schemes import remedy_of
from ils_bench.targets.people import spec_of, suffix_of
from ils_bench.targets.probe import WrongBase, connect, exists, probe, read
from ils_bench.targets.profile import apply_profile, posix_group_is_auxiliary
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import (
    Contents,
    Groups,
    LdifCount,
    Population,
    check_groups,
    read_people,
    remove_groups,
    seed_groups,
)
from sitebench.errors import (
    EXIT_FAILED,
    BadFile,
    BadInput,
    MeasurementFailed,
    SitebenchError,
    TargetUnreachable,
)
from sitebench.measure.command import say
from sitebench.measure.diagnosis import NOT_ALLOWED
from sitebench.measure.progress import bar
from sitebench.seeders.ldif import pieces, write_ldif
from sitebench.seeders.people import Spec, contents_meanwhile, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system import secret
from sitebench.system.files import refuse_existing
from sitebench.system.native_errors import translated
from sitebench.system.output import StandardOutput
from sitebench.targets.ownership import assure_own
from sitebench.targets.tls import Trust
from sitebench.units import format_bytes, plural

_Move = Callable[[int], object]
_READ_BYTES = 1 << 20
_FIRST_KEYS = 1_000
"""Number of people compared one by one, in 1 to 2 s, to name the first difference."""
_CONTAINERS = {"o": "organization", "ou": "organizationalUnit", "dc": "domain", "c": "country"}
"""Structural classes by naming attribute (RFC 4519, RFC 4524)."""


# A group's description names its owner and tells whether it is complete, so groups need no journal.
def seed_groups_of(target: OpenDirectory, groups: Groups) -> str:
    with bar(f"adding groups to {target.address}", groups.count) as move, translated():
        added, piece = seed_groups(target.to_engine(), groups, move)
    message = f"added {added:,} of {plural(groups.count, 'group')}"
    if piece is not None:
        pieces = f"in pieces of {format_bytes(piece)}"
        message += f"; it does not take the largest in one message, but {pieces}"
    return message


def verify_groups(target: OpenDirectory, groups: Groups) -> str:
    with bar(f"reading groups of {target.address}", groups.count) as move, translated():
        members, has_member_of = check_groups(target.to_engine(), groups, move)
    behaviour = "shows them as memberOf of people" if has_member_of else "keeps no memberOf"
    many = f"{plural(groups.count, 'group')} with {plural(members, 'member')}"
    return f"all {many} verified; it {behaviour}"


def seed_destination(options: SeedOptions, place: str, accounts: str | None = None) -> None:
    options, destination = _destination(options, place)
    if accounts is not None:
        check_accounts(Path(accounts), options.profile)
    if isinstance(destination, LdifFile):
        refuse_existing(destination.path)
    people = spec_of(options, options.entries)
    generated = generate(people)
    population = generated.population
    groups = _groups(options, destination, population)
    if not isinstance(destination, LiveDirectory):
        make_hashes(generated)
    many = plural(people.size, "person", "people")
    is_filled_anew = True
    with contents_meanwhile(population) as contents:
        match destination:
            case Stream():
                _print_ldif(population, groups)
                message = f"{many}{_and(groups)} written"
            case LdifFile(path):
                with _resumable_bar(f"writing {path}", people.size) as move:
                    written = write_ldif(population, path, move, ldif_of(groups))
                message = f"{many}{_and(groups)} in {path}, {written:,} bytes"
            case SlapdFolder(folder):
                with _resumable_bar(f"filling {folder}", people.size) as move:
                    slapd_folder.fill(people, folder, move)
                message = f"{many} in {folder}; start it with\n  {slapd_folder.command(folder)}"
            case LiveDirectory():
                message, is_filled_anew = _seed_live(options, people, groups)
        say(message)
        if accounts is not None:
            write_accounts(Path(accounts), population)
            say(f"{plural(people.size, 'account')} with their passwords in {accounts}")
        if is_filled_anew:
            say(f"digest {contents.result().digest}")


def verify_destination(options: SeedOptions, place: str) -> None:
    options, destination = _destination(options, place)
    people = spec_of(options, options.entries)
    population = generate(people).population
    groups = _groups(options, destination, population)
    if groups is not None and not isinstance(destination, LiveDirectory):
        raise BadInput(
            "groups are verified in a running directory alone", "name one, or leave --groups out"
        )
    with contents_meanwhile(population) as contents:
        with bar(f"reading {destination}", people.size) as move:
            actual = _contents(options, destination, people, population, move)
        expected = contents.result()
    if actual != expected:
        message = (
            f"{destination} holds {plural(actual.people, 'person', 'people')} with digest "
            f"{actual.digest}, not the {expected.people:,} asked for, whose digest is "
            f"{expected.digest}"
        )
        remedy = "check --entries, --seed, --profile and --locales, or make them anew: "
        if isinstance(destination, LiveDirectory):
            message += _first_difference(options, population)
            remedy += "`sitebench ils clean --seeded`, then `sitebench ils seed`"
        else:
            remedy += "remove the place, then `sitebench ils seed`"
        raise MeasurementFailed(message, remedy)
    say(f"{destination}: all {plural(actual.people, 'person', 'people')} verified")
    if isinstance(destination, LiveDirectory) and (tried := check_logins(options, population)):
        say(f"{tried} of them logged in, and were refused with another password")
    if groups is not None:
        say(f"{destination}: {verify_groups(open_live(options), groups)}")
    say(f"digest {actual.digest}")


def _first_difference(options: SeedOptions, population: Population) -> str:
    target = open_live(options)
    with (
        connect(target.address, target.who, target.trust) as connection,
        bar("looking for the first that differs", _FIRST_KEYS) as move,
    ):
        for number in range(min(population.size, _FIRST_KEYS)):
            dn = population.dn(number)
            attributes = read(connection, dn, "*")
            if not attributes:
                return f"; the first that is missing is {dn!r}"
            lines = [f"dn:: {b64encode(dn.encode()).decode()}"]
            for name, values in attributes.items():
                lines += [f"{name}:: {b64encode(value).decode()}" for value in values]
            person = LdifCount(options.profile)
            person.feed(("\n".join(lines) + "\n\n").encode())
            if person.finish() != population.contents(number, number + 1):
                return f"; the first that differs is {dn!r}"
            move(number + 1)
    return f"; the first {min(population.size, _FIRST_KEYS):,} are as they have to be"


def _destination(options: SeedOptions, place: str) -> tuple[SeedOptions, Destination]:
    destination = parse_destination(place)
    if isinstance(destination, LiveDirectory):
        options = with_base(replace(options, target=place))
        _warn(options)
        options = apply_profile(ask_password(options))
    return options, destination


def _groups(
    options: SeedOptions, destination: Destination, population: Population
) -> Groups | None:
    spec = spec_of_groups(options)
    if spec is not None and isinstance(destination, SlapdFolder):
        raise BadInput(
            "groups are not put into a slapd's folder",
            "start slapd on it, and seed the groups at its ldap:// address",
        )
    asks = spec and isinstance(destination, LiveDirectory) and options.profile == "posix"
    auxiliary = bool(asks) and posix_group_is_auxiliary(options)
    return groups_of(spec, population, options.profile, auxiliary=auxiliary)


def _and(groups: Groups | None) -> str:
    return "" if groups is None else f" and {plural(groups.count, 'group')}"


def _warn(options: SeedOptions) -> None:
    for warning in Trust.from_options(options).warnings():
        say(f"warning: {warning.message}; {warning.remedy}")


def _contents(
    options: SeedOptions,
    destination: Destination,
    people: Spec,
    population: Population,
    move: _Move,
) -> Contents:
    match destination:
        case Stream() | LdifFile():
            path = 0 if isinstance(destination, Stream) else destination.path
            try:
                with open(path, "rb", closefd=path != 0) as file:
                    return _read_ldif(file, people, move)
            except BadFile as error:
                raise BadFile(f"{destination}, {error.message}", error.remedy) from None
            except OSError as error:
                problem = f"cannot read {destination}: {error.strerror}"
                raise BadFile(problem, "check the name") from error
        case SlapdFolder(folder):
            return slapd_folder.read(folder, move, profile=people.profile)
        case LiveDirectory():
            config = open_live(options).to_engine()
            with translated():
                return read_people(config, population, move)


def _read_ldif(file: BinaryIO, people: Spec, move: _Move) -> Contents:
    count = LdifCount(people.profile)
    with translated():
        while piece := file.read(_READ_BYTES):
            count.feed(piece)
            move(count.people)
        return count.finish()


def _print_ldif(population: Population, groups: Groups | None) -> None:
    try:
        with io.BufferedWriter(StandardOutput()) as out:
            for _, piece in pieces(population, 0, population.size):
                out.write(piece)
            for piece in ldif_of(groups):
                out.write(piece)
    except BrokenPipeError:
        raise SystemExit(EXIT_FAILED) from None


def _seed_live(options: SeedOptions, people: Spec, groups: Groups | None) -> tuple[str, bool]:
    """Add missing people; return the message, and whether all people were missing."""
    _assure_own(options, "filling a directory")
    assure_encrypted(options)
    address = parse_address(options.target, start_tls=options.start_tls)
    with connect(address, identity_of(options), Trust.from_options(options)) as connection:
        _make_containers(connection, options.base)
    target = open_live(options)
    # If the first person cannot log in, no further people are added.
    first = replace(people, size=min(1, people.size))
    added, _ = seed(target, first, lambda written, _: None, keep=True)
    check_logins(options, generate(first).population, remedy_of(target, people.hash))
    with _resumable_bar(f"filling {target.address}", people.size) as move:
        added += seed(target, people, lambda written, _: move(written), keep=True)[0]
    if groups is not None:
        say(f"{target.address}: {seed_groups_of(target, groups)}")
    many = plural(people.size, "person", "people")
    if added < people.size:
        say(
            f"{target.address}: added {added:,} of {many}; those who were there already were not "
            "compared: `sitebench ils verify` compares them"
        )
    verb = "is" if people.size == 1 and groups is None else "are"
    message = f"{many}{_and(groups)} {verb} under {options.base} at {target.address}"
    return message, added == people.size


def _assure_own(options: SeedOptions, writer: str) -> None:
    address = parse_address(options.target)
    assure_own(address.host, address.port, owned=options.i_own_this_target, what=writer)


def _make_containers(connection: Any, base: str) -> None:
    """Add the base and its missing ancestors, if the directory allows it.

    ldap3 suffices for two or three entries.
    """
    from ldap3.utils.dn import safe_rdn, to_dn

    missing = []
    ancestor = base
    # Ancestors end at the suffix, because no server holds dc=com.
    suffix_length = len(to_dn(suffix_of(base)))
    while ancestor and not exists(connection, ancestor):
        missing.append(ancestor)
        _, *parents = to_dn(ancestor)
        ancestor = ",".join(parents).strip() if len(parents) >= suffix_length else ""
    for dn in reversed(missing):
        (name, value), *rest = safe_rdn(dn, decompose=True)
        object_class = _CONTAINERS.get(name.lower())
        if object_class is None or rest:
            raise WrongBase(
                f"{dn!r} is not in the directory, and {name} names no container",
                "make it yourself, or name another DN with --base",
            )
        connection.add(dn, attributes={"objectClass": ["top", object_class], name: value})
        if connection.result["result"] != 0:
            code = connection.result["description"]
            remedy = "name a DN below one of its suffixes with --base"
            if f"result:{code}" in NOT_ALLOWED:
                remedy = "bind as a user who may write there, with --bind-dn and --password-file"
            raise WrongBase(f"the directory does not take {dn!r}: {code}", remedy)


@contextmanager
def _resumable_bar(title: str, size: int) -> Iterator[_Move]:
    present = 0

    def move_to(people: int) -> None:
        nonlocal present
        present = people
        move(people)

    with bar(title, size) as move:
        try:
            yield move_to
        except (KeyboardInterrupt, SitebenchError):
            if 0 < present < size:
                count = f"{present:,} of {size:,} people are there"
                say(f"{count}; the same command continues from there")
            raise


def clean_all(options: SeedOptions, *, seeded: bool) -> None:
    """Remove the people in the journal; with `seeded`, also the people that `seed` added."""
    if seeded:
        # Missing options are an error before any person is removed.
        options = _to_empty(options)
    _warn(options)
    failures: list[SitebenchError] = []
    abandoned = _list_abandoned(options)
    _refuse_one_password_for_several(options, abandoned)
    removals = [partial(_clean_one, reservation, options) for reservation in abandoned]
    removals += [partial(_remove_seeded, options)] * seeded
    for remove in removals:
        # People in an unreachable directory stay in the journal, and the loop goes on.
        try:
            remove()
        except SitebenchError as failure:
            failures.append(failure)
    if not removals:
        say("nothing to clean up")
    for error in failures[:-1]:
        say(f"{error.message}\n  {error.remedy}")
    if failures:
        raise failures[-1]


@contextmanager
def _or_forget(target: str, *errors: type[SitebenchError]) -> Iterator[None]:
    """Name `clean --forget` in the remedy of an error."""
    try:
        yield
    except errors as error:
        forget = f"or drop it from the list: sitebench ils clean --forget --target {target}"
        raise type(error)(error.message, f"{error.remedy}; {forget}") from error


def forget(options: SeedOptions) -> None:
    if not options.target:
        raise BadInput("--forget does not say which directory", "name it with --target")
    abandoned = _list_abandoned(options)
    for reservation in abandoned:
        journal.release(reservation)
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(reservation.began))
        say(
            f"{reservation.target}: forgot the people that the run of {began} added under "
            f"{reservation.base}; those who are there stay"
        )
    if not abandoned:
        say(f"the journal has nothing of {options.target}")


def _list_abandoned(options: SeedOptions) -> list[journal.Reservation]:
    return [r for r in journal.entries() if r.is_abandoned and _is_chosen(options, r)]


def _is_chosen(options: SeedOptions, reservation: journal.Reservation) -> bool:
    if not options.target:
        return True
    destination = parse_destination(options.target)
    address = parse_address(reservation.target)
    return isinstance(destination, LiveDirectory) and (
        destination.address.host,
        destination.address.port,
    ) == (address.host, address.port)


def _refuse_one_password_for_several(
    options: SeedOptions, abandoned: Sequence[journal.Reservation]
) -> None:
    binds = {
        (reservation.target, reservation.bind_dn)
        for reservation in abandoned
        if reservation.bind_dn is not None
    }
    password = secret.read(options.password_file, "password file", secret.BIND_PASSWORD)
    if password is not None and len(binds) > 1 and not options.target:
        raise BadInput(
            "one password is given, and people were left in several directories or by several "
            f"DNs: {', '.join(sorted(f'{dn} at {target}' for target, dn in binds))}",
            "name one directory with --target, or leave the password out and type each",
        )


def _to_empty(options: SeedOptions) -> SeedOptions:
    destination = parse_destination(options.target) if "://" in options.target else None
    if not isinstance(destination, LiveDirectory):
        raise BadInput(
            "--seeded does not say which directory to empty",
            "name the directory with --target ldap://host:port",
        )
    return with_base(options)


def _clean_one(reservation: journal.Reservation, options: SeedOptions) -> None:
    # The journal records no TLS option except the scheme of the address.
    start_tls = options.start_tls and not reservation.target.startswith("ldaps")
    address = parse_address(reservation.target, start_tls=start_tls)
    trust = Trust.from_options(options)
    bind_options = replace(options, target=reservation.target, bind_dn=reservation.bind_dn)
    if options.target and options.bind_dn not in (None, reservation.bind_dn):
        raise BadInput(
            f"the people left at {options.target} were added {_binder(reservation.bind_dn)}, "
            f"not {_binder(options.bind_dn)}",
            "leave --bind-dn out, or give the one that added them",
        )
    identity = identity_of(ask_password(bind_options))
    with _or_forget(reservation.target, TargetUnreachable):
        probe(address, reservation.base, identity, trust)
    target = OpenDirectory(reservation.target, address, reservation.base, identity, trust=trust)
    total = reservation.stop - reservation.start
    refused = _or_forget(reservation.target, SitebenchError)
    with refused, bar(f"cleaning {reservation.target}", total) as move:
        removed = plural(clean.remove(reservation, target, move), "person", "people")
    say(f"{reservation.target}: removed {removed} from {reservation.base}")


def _binder(bind_dn: str | None) -> str:
    return f"by {bind_dn}" if bind_dn else "anonymously"


def _remove_seeded(options: SeedOptions) -> None:
    _assure_own(options, "removing people")
    options = apply_profile(ask_password(options))
    target, people = open_live(options), spec_of(options, options.entries)
    population = generate(people).population
    groups = _groups(options, parse_destination(options.target), population)
    # A directory can refuse to delete members of a group: groups are removed first.
    number, kind = 0, ""
    if groups is not None:
        number, kind = groups.count, "more "
        with bar(f"removing groups from {target.address}", number) as move, translated():
            removed = remove_groups(target.to_engine(), groups, move)
        say(f"{target.address}: removed {plural(removed, 'group')} from {people.base}")
    with connect(target.address, target.who, target.trust, brief=True) as connection:
        if exists(connection, f"cn=group.{number},{target.base}"):
            say(f"{target.address}: {kind}groups are there, and stay; --groups N removes them")
    reservation = journal.reserve(
        str(target.address), people, bind_dn=target.who.dn, keys=people.size, first=0
    )
    with bar(f"emptying {target.address}", people.size) as move:
        removed = clean.remove(reservation, target, move)
    say(f"{target.address}: removed {plural(removed, 'person', 'people')} from {people.base}")


def leftovers(target: str) -> Callable[[], None]:
    """Return a function that reports people left behind by runs that began after this call.

    Processes of this command's points can leave people too.
    """
    old_ids = {reservation.id for reservation in journal.entries()}

    def report() -> None:
        if target in OWN_TARGETS:
            return
        new = [reservation for reservation in journal.entries() if reservation.id not in old_ids]
        targets = [
            reservation.target
            for reservation in new
            if reservation.is_abandoned or reservation.pid == os.getpid()
        ]
        for name in dict.fromkeys(targets):
            say(f"{name} still holds people of this run: `sitebench ils clean` removes them")

    return report
