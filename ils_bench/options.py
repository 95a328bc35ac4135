from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ils_bench.names import check_form
from ils_bench.suite import SUITE
from sitebench import units
from sitebench.errors import BadInput, UnknownValue
from sitebench.locust.web_ui.options import SessionOptions
from sitebench.options import option
from sitebench.options.option import Options, Placement
from sitebench.seeders import DEFAULT_BASE, PROFILES
from sitebench.suite_base.options import (
    EndpointOptions,
    EntriesOption,
    PeopleOptions,
    ServerOptions,
    SizesOption,
    SuiteOptions,
    lab_option,
    port_option,
    target_option,
)
from sitebench.system.secret import BIND_PASSWORD

EXTERNAL = "external"
ANY = "any"
BIND, _, SEARCH_BIND_GROUPS = HOW = ("bind", "search-bind", "search-bind-groups")
_, KEPT = OVER = ("new", "kept")


def _suffix(text: str) -> str:
    if text and "=" not in text:
        raise UnknownValue(f"{text!r} is not a DN", "write it like o=Intranet or dc=example,dc=com")
    return text


def _share(text: str) -> float:
    share = units.parse_percent(text)
    if not 0.001 <= share < 1:
        raise UnknownValue(f"{text!r} is not between 0.1% and 100%", "write 5%, say")
    return share


def _some(text: str) -> str:
    if not text:
        raise UnknownValue("the password is empty", "give it at least one character")
    return text


def _hash(text: str) -> str:
    # Imported late: help and shell completion do not need the engine.
    from sitebench._engine import hash_facts
    from sitebench.system.native_errors import translated

    try:
        with translated():
            return hash_facts(text)[0]
    except BadInput as error:
        raise UnknownValue(error.message, error.remedy) from None


def parse_hashes(text: str) -> tuple[str, ...]:
    schemes = option.sequence_of(_hash)(text)
    if not schemes:
        raise UnknownValue(f"{text!r} names no hash", "name one, such as ssha,argon2:64m")
    return tuple(dict.fromkeys(schemes))


def _pool(text: str) -> int:
    return 0 if text.strip() == "all" else units.parse_size(text)


_VERBS = ("search", "modify", "compare")


def _parse_mix(text: str) -> tuple[tuple[str, int], ...]:
    """Read `search=90,modify=10`."""
    weights = []
    for part in text.split(","):
        verb, equals, weight = (word.strip() for word in part.partition("="))
        if verb not in _VERBS or not equals or not weight.isdecimal() or int(weight) < 1:
            raise UnknownValue(
                f"{part.strip()!r} is not one of {', '.join(_VERBS)} with its weight",
                "write it like search=90,modify=10",
            )
        weights.append((verb, int(weight)))
    if len({verb for verb, _ in weights}) < len(weights):
        raise UnknownValue(f"{text!r} names a verb twice", "add its weights up")
    return tuple(weights)


_NO_OPTION: Final[Placement] = {"command": False, "form": False, "hidden": True}
"""The placement of a field that a command or `LdapDirectory` sets, without an option."""


@dataclass(frozen=True)
class KindOptions(Options):
    profile: str = option.choice(
        "paper",
        "Kind of people: paper (1,283 bytes in a lookup's answer), small (126 bytes in an add), "
        "ils (an Internet Locator Server's, with its protocol), person (inetOrgPerson), posix "
        "(with a Unix account) or ad (Active Directory). At an address the default depends on the "
        "directory.",
        *PROFILES,
        panel="Entries",
    )
    hash: str | None = option.parsed(
        None,
        "Form of the passwords of person and posix in the directory: clear, ssha, ssha512, "
        "crypt:ROUNDS, pbkdf2-sha256:ROUNDS, pbkdf2-sha512:ROUNDS or argon2:MEMORY:PASSES, such "
        "as argon2:64m (default: ssha).",
        parse=_hash,
        metavar="NAME[:PARAMETERS]",
        panel="Entries",
    )
    hash_pool: int | None = option.parsed(
        None,
        "Number of different passwords, or all (default: all; 1,000 with a slow hash).",
        parse=_pool,
        show=lambda pool: "all" if pool == 0 else units.format_size(pool),
        metavar="N|all",
        **_NO_OPTION,
    )
    one_password: str | None = option.parsed(
        None,
        "Password of all people, in place of each one's own. It is in the run file.",
        parse=_some,
        metavar="TEXT",
        **_NO_OPTION,
    )


def _group_sizes(text: str) -> tuple[int, ...]:
    parts = map(str.strip, text.split(","))
    return tuple(0 if part == "all" else units.parse_sizes(part)[0] for part in parts)


@dataclass(frozen=True)
class GroupOptions:
    groups: int | None = option.size(
        None,
        "Number of groups of the people: posixGroup with posix, group with ad, else groupOfNames "
        "(default: none).",
        "N",
        panel="Entries",
    )
    members: tuple[int, ...] = option.parsed(
        (10,),
        "Number of people in a group; each further number, such as 10,1k,all, is that of a single "
        "group.",
        parse=_group_sizes,
        show=lambda members: ",".join(str(size or "all") for size in members),
        metavar="LIST",
        panel="Entries",
    )
    depth: int = option.count(
        1,
        "Levels of nested groups; the groups at the bottom have the people.",
        at_most=64,
        panel="Entries",
    )
    in_all: int = option.count(
        0,
        "Number of people, from the first on, who are in every group.",
        at_least=0,
        panel="Entries",
    )


@dataclass(frozen=True)
class DirectoryOptions(EndpointOptions, KindOptions):
    target: str = target_option(
        "embedded",
        "Directory to measure: embedded, openldap, or the ldap:// or ldaps:// address of another.",
    )
    base: str = option.text(DEFAULT_BASE, "DN of the entry above the people.", "DN", panel="Target")
    bind_dn: str | None = option.text(
        None, "DN to bind with (default: anonymous).", "DN", panel="Target"
    )
    password_file: str | None = option.file(
        f"File with the password in its first line (default: ${BIND_PASSWORD}, or a prompt).",
        panel="Target",
        form=False,
    )
    names: str | None = option.parsed(
        None,
        "People of your own directory: numbered, such as 'uid=user.{i}', or of a file: "
        "@people.txt with a uid in each line, @accounts.csv:mail, or @accounts.csv:Login=uid for "
        "a column with another name than its attribute. No entries are added.",
        metavar="TEMPLATE",
        parse=check_form,
        panel="Target",
    )
    sasl: str | None = option.choice(
        None,
        "SASL mechanism to bind with over TLS: external (the identity in --tls-cert) or plain "
        "(default: simple bind).",
        *(EXTERNAL, "plain"),
        panel="TLS",
    )
    start_tls: bool = option.flag("StartTLS on an ldap:// connection.", panel="TLS")


@dataclass(frozen=True)
class LoadTestOptions(DirectoryOptions, GroupOptions, PeopleOptions, SuiteOptions):
    tls_target: str | None = option.text(
        None,
        "ldaps:// address of the same directory, for connections with tls = true.",
        "URL",
        panel="TLS",
    )
    client: str = option.choice(
        "native",
        "LDAP client: native, or ldap3 (portable, far slower).",
        *("native", "ldap3"),
        panel="Advanced",
    )
    session: float = option.duration(
        1200.0, "Length of an ils-user's session, filled with think time.", panel="Advanced"
    )
    filter: str | None = option.text(
        None,
        "Filter of the searches, with {name} for a person of --names: '(mail={name})'.",
        "FILTER",
        panel="Load",
        form=False,
    )
    mix: tuple[tuple[str, int], ...] | None = option.parsed(
        None,
        "Operations on people of --names with their weights: search, modify and compare, such as "
        "search=90,modify=10.",
        parse=_parse_mix,
        show=lambda mix: ",".join(f"{verb}={weight}" for verb, weight in mix or ()),
        metavar="LIST",
        panel="Load",
        form=False,
    )
    attribute: str | None = option.text(
        None, "Attribute that the modify of --mix changes.", "NAME", panel="Load", form=False
    )
    how: str | None = option.choice(
        None,
        "Steps of a login: bind; search-bind: a search for the DN first; or search-bind-groups: a "
        "search for the groups, too (default: bind).",
        *HOW,
        panel="Load",
    )
    over: str | None = option.choice(
        None,
        "Connections of logins: a new one for each (default), or kept ones.",
        *OVER,
        panel="Load",
    )
    accounts: str | None = option.file(
        "CSV file of accounts to log in, with the columns dn or uid, and password; or "
        "FILE:secret=password,login=uid for columns with other names.",
        panel="Load",
        form=False,
    )
    wrong_passwords: str | None = option.choice(
        None,
        "Wrong passwords for an account of a CSV file: any number (default: two at most).",
        ANY,
        panel="Load",
        form=False,
    )
    wrong: float | None = option.parsed(
        None,
        "Share of logins with a wrong password, which must be refused: 5%.",
        parse=_share,
        show=units.format_percent,
        metavar="PERCENT",
        panel="Load",
        form=False,
    )
    ring: int = option.size(
        1_000_000,
        "Upper limit of people added and not yet removed; beyond it, an add removes the oldest.",
        "N",
        **_NO_OPTION,
    )


@dataclass(frozen=True)
class IlsOptions(EntriesOption, LoadTestOptions):
    def explicit_value(self, name: str) -> Any:
        """Return an option, base or session, that was set; None if the scenario file may set it."""
        value = vars(self)[name]
        return value if self.is_set(name) or value != getattr(IlsOptions, name) else None


@dataclass(frozen=True)
class LocustOptions(SessionOptions):
    disposable: bool = option.flag("A target that is deleted afterwards.", hidden=True)


@dataclass(frozen=True)
class SweepOptions(SizesOption):
    operations: tuple[str, ...] = option.parsed(
        ("connect", "add", "lookup"),
        f"Operations, separated by commas: some of {', '.join(SUITE.operations)}.",
        parse=option.SomeOf("operation", *SUITE.operations),
        show=option.join_values,
        metavar="LIST",
        locust=False,
    )
    hash: tuple[str, ...] | None = option.parsed(
        None,
        "Forms of the passwords of person and posix, measured one after the other: clear, ssha, "
        "ssha512, crypt:ROUNDS, pbkdf2-sha256:ROUNDS, pbkdf2-sha512:ROUNDS or "
        "argon2:MEMORY:PASSES, separated by commas.",
        parse=parse_hashes,
        show=option.join_values,
        metavar="LIST",
        panel="Entries",
        locust=False,
    )
    paper: bool = option.flag(
        "The sweep of the 1997 paper: 600 s per point, sizes 500, 1,000, 5,000 and 10,000, the "
        "paper's numbers of clients, adds of 126 bytes.",
        locust=False,
    )
    lab: str = lab_option()


@dataclass(frozen=True)
class SeedOptions(EntriesOption, DirectoryOptions, PeopleOptions, GroupOptions):
    target: str = target_option(
        "", "ldap:// or ldaps:// address of the directory, which may name the base."
    )
    # `open_target` reads these fields.
    names: str | None = option.text(None, "For tests only.", hidden=True)
    tls: bool = option.flag("For tests only.", hidden=True)
    tls_resume: bool = option.flag("For tests only.", hidden=True)


@dataclass(frozen=True)
class CleanOptions(SeedOptions):
    seeded: bool = option.flag(
        "Removal of the --entries people that `seed` added, as well.", panel="Options"
    )
    forget: bool = option.flag(
        "Forget the entries left in --target, which no longer exists; nothing is removed.",
        panel="Options",
    )


@dataclass(frozen=True)
class ServeOptions(PeopleOptions, KindOptions, GroupOptions, ServerOptions):
    port: int = port_option(10389)
    entries: int | None = option.parsed(
        None,
        "People in the directory (default: 10k, or those of --ldif); 0 for an empty one.",
        parse=lambda text: 0 if text.strip() == "0" else units.parse_size(text),
        metavar="SIZE",
        panel="Entries",
    )
    ldif: str | None = option.file("LDIF file to load.", panel="Entries")
    suffix: str | None = option.parsed(
        None,
        "Root of the tree (default: o=Intranet, or the first name of an LDIF file alone).",
        metavar="DN",
        parse=_suffix,
        panel="Target",
    )
    admin_dn: str | None = option.text(
        None, "DN of the administrator (default: everyone may write).", "DN", panel="Target"
    )
    admin_password_file: str | None = option.file(
        f"File with that DN's password in its first line (default: ${BIND_PASSWORD}).",
        panel="Target",
    )
    read_only: bool = option.flag("Refusal of every write.", panel="Target")
    require_bind: bool = option.flag(
        "Refusal of requests from clients that have not bound.", panel="Target"
    )
    start_tls: bool = option.flag("StartTLS on the plain port, instead of ldaps.", panel="TLS")
