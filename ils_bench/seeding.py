"""`sitebench ils seed` and `sitebench ils clean`: people into directories, and out of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ils_bench import clean, journal
from ils_bench.containers import make_containers
from ils_bench.options import SeedOptions
from ils_bench.people import spec_of
from ils_bench.probe import connected, parse_address, probe
from ils_bench.targets.live import open_live, seed
from ils_bench.targets.target import OpenTarget, password_of
from seeders.ldif import write_ldif
from seeders.people import generate
from sitebench.errors import SitebenchError, UnknownValue
from sitebench.measuring import say
from sitebench.progress import bar


def seed_place(options: SeedOptions, place: str) -> None:
    """Fill a directory or write a file."""
    people = spec_of(options, options.entries)
    if "://" in place:
        options = replace(options, target=place)
        address, password = parse_address(place), password_of(options)
        with connected(address, options.bind_dn, password) as connection:
            make_containers(connection, options.base)
        target = open_live(options)
        with bar(f"filling {target.address}", people.size) as move:
            seed(target, people, lambda done, _: move(done), keep=True)
        say(f"{people.size:,} people are under {options.base} at {target.address}")
    elif place in ("embedded", "openldap"):
        raise UnknownValue(
            f"there is no running directory named {place!r} to fill",
            "name a file with --to people.ldif, or an address with --to ldap://host:port",
        )
    else:
        with bar(f"writing {place}", people.size) as move:
            written = write_ldif(
                generate(people).population, Path(place), progress=lambda done, _: move(done)
            )
        say(f"{people.size:,} people in {place}, {written:,} bytes")


def clean_all(options: SeedOptions, *, seeded: bool) -> None:
    """Remove what the journal says was left, and on demand what `seed` put there."""
    failed: SitebenchError | None = None
    left = [each for each in journal.entries() if each.abandoned]
    for reservation in left:
        try:
            removed = _clean_one(reservation, options)
            say(f"{reservation.target}: removed {removed:,} people from {reservation.base}")
        except SitebenchError as error:
            # The others may be reachable; this one stays in the journal.
            say(f"{reservation.target}: {error.message}")
            failed = error
    if seeded:
        _remove_seeded(options)
    elif not left:
        say("nothing was left behind")
    if failed is not None:
        raise failed


def _clean_one(reservation: journal.Reservation, options: SeedOptions) -> int:
    address, password = parse_address(reservation.target), None
    if reservation.bind_dn is not None:
        password = password_of(options)
    probe(address, reservation.base, reservation.bind_dn, password)
    target = OpenTarget(
        reservation.target, address, reservation.base, reservation.bind_dn, password
    )
    wanted = reservation.stop - reservation.start
    with bar(f"cleaning {reservation.target}", wanted) as move:
        return clean.remove(reservation, target, move)


def _remove_seeded(options: SeedOptions) -> None:
    target, people = open_live(options), spec_of(options, options.entries)
    reservation = journal.reserve(
        str(target.address),
        base=people.base,
        bind_dn=target.bind_dn,
        profile=people.profile,
        seed=people.seed,
        locales=people.locales,
        keys=people.size,
        first=0,
    )
    with bar(f"emptying {target.address}", people.size) as move:
        removed = clean.remove(reservation, target, move)
    say(f"{target.address}: removed {removed:,} people from {people.base}")
