"""`sitebench ils seed`, `verify`, `schema` and `clean`."""

from __future__ import annotations

from ils_bench.options import CleanOptions, SeedOptions
from ils_bench.schema import FILES, text
from sitebench.errors import BadInput
from sitebench.options.command import argument, command, option
from sitebench.options.option import OneOf, named

_PANEL = "Directories"

_TO = "LDIF file (- for standard output), ldap:// address, or slapd:/folder to fill"
_OF = "LDIF file (- for standard input), ldap:// address, or slapd:/folder"


@command(
    SeedOptions,
    option("to", f"{_TO} (default: --target).", "PLACE"),
    option("accounts", "CSV file to write, with dn, uid and password of each person.", "FILE"),
    panel=_PANEL,
)
def seed(options: SeedOptions, to: str | None, accounts: str | None) -> None:
    """Fill a running directory, make the folder of a slapd, or write an LDIF file.

    After an interruption the same command continues.

    sitebench directory seed --to people.ldif --entries 1m

    sitebench directory seed --to ldap://127.0.0.1:389/ou=people,dc=example,dc=com --entries 10k

    sitebench directory seed --to slapd:/srv/people --entries 100k
    """
    from ils_bench.seeding.commands import seed_destination

    seed_destination(options, to or options.target, accounts)


@command(
    SeedOptions, argument("PLACE", f"{_OF} (default: --target).", required=False), panel=_PANEL
)
def verify(options: SeedOptions, place: str | None) -> None:
    """Check that a directory or file holds exactly the people that `seed` puts there.

    sitebench directory verify people.ldif --entries 1m

    sitebench directory verify ldap://127.0.0.1:389/ou=people,dc=example,dc=com --entries 10k
    """
    from ils_bench.seeding.commands import verify_destination

    verify_destination(options, place or options.target)


@command(
    None,
    argument(
        "FORMAT",
        "Format: openldap (for slapd.conf), config (OpenLDAP's cn=config) or 389ds.",
        name="server",
        parse=named(OneOf(*FILES), "FORMAT"),
        words=tuple(FILES),
        shown="openldap",
    ),
    panel=_PANEL,
)
def schema(server: str | None) -> None:
    """Print the schema of the people's entries, for your directory to load.

    sitebench directory schema openldap

    sitebench directory schema 389ds
    """
    print(text(server or "openldap"), end="")


@command(CleanOptions, panel=_PANEL)
def clean(options: CleanOptions) -> None:
    """Remove entries that crashed runs left in your directories, or in --target only.

    sitebench directory clean

    sitebench directory clean --forget --target ldap://gone:389

    sitebench directory clean --seeded --target ldap://127.0.0.1:389/ou=people,dc=example,dc=com
    --entries 10k
    """
    from ils_bench.seeding import commands

    if options.forget and options.seeded:
        raise BadInput("--forget removes nothing, so --seeded does not go with it", "leave one out")
    if options.forget:
        commands.forget(options)
    else:
        commands.clean_all(options, seeded=options.seeded)
