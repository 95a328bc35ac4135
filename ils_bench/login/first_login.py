"""One login before the load, which shows what a login changes in the directory.

The entry is read before and after the login, with the rights of --bind-dn. Operational attributes
do not show all changes: 389-DS keeps modifyTimestamp when it hashes a password again, and Samba has
no entryCSN.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from ils_bench.login.logins import accounts_in, are_ours, to_check
from ils_bench.options import BIND, IlsOptions
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.seeders.people import generate
from sitebench.verdict.warning import PointWarning, WarningKind

_WRITTEN = (
    "pwdLastSuccess",  # slapd's lastbind
    "authTimestamp",  # slapd's overlay authtimestamp
    "lastLoginTime",  # 389-DS's account policy
    "lastLogon",
    "lastLogonTimestamp",
    "logonCount",  # Active Directory
)
_ENTRY = ("entryCSN", "modifyTimestamp")
_HASH = "userPassword"
_GRAIN_S = 1.1
"""Directories store login times in seconds, so a second login within one second changes nothing."""


class FirstLogin(msgspec.Struct, frozen=True):
    """Changes that a login made to its entry."""

    written: tuple[str, ...] = ()
    rehashed: tuple[str, str] | None = None
    """Hash schemes of the password before and after the login."""

    def warnings(self, people: int, per_s: float) -> tuple[PointWarning, ...]:
        warnings = []
        if self.written:
            note = ""
            if per_s > people:
                note = f"; each of {people:,} people logged in {per_s / people:.1f} times a second"
                note += ", and directories write once a second"
            warnings.append(
                PointWarning(
                    WarningKind.LOGIN_WRITES,
                    f"each login writes {', '.join(self.written)}{note}",
                    "it is a part of what logins cost there: have more people than logins a "
                    "second, or switch it off",
                )
            )
        if self.rehashed is not None:
            old, new = self.rehashed
            warnings.append(
                PointWarning(
                    WarningKind.LOGIN_REHASHES,
                    f"a first login changes the hash of a password: {old} became {new}",
                    "measure again with those who have logged in, or switch it off (389-DS: "
                    "nsslapd-enable-upgrade-hash)",
                )
            )
        return tuple(warnings)


def first_login(target: OpenDirectory, options: IlsOptions) -> FirstLogin:
    """Log in once as the load will; raise if that fails."""
    from ils_bench.targets.probe import connect, refusal

    dn, password, hint = _login_of(target, options)

    def login() -> None:
        if (error := refusal(target.address, dn, password, target.trust)) is not None:
            raise MeasurementFailed(f"{error.message}{hint}", to_check(options))

    with connect(target.address, target.who, target.trust) as service:
        initial = _state(service, dn)
        login()
        final = _state(service, dn)
        changed = _changes(initial, final)
        has_state = any(initial.get(attribute) for attribute in _WRITTEN)
        if set(changed) <= set(_ENTRY) and (changed or has_state):
            # The first login may clear an old pwdFailureTime, and later logins do not: a second
            # login decides.
            time.sleep(_GRAIN_S)
            first = final
            login()
            final = _state(service, dn)
            changed = _changes(first, final)
    written = [attribute for attribute in changed if attribute not in _ENTRY] or changed[:1]
    hashed = initial.get(_HASH), final.get(_HASH)
    old, new = (", ".join(values or ()) for values in hashed)
    return FirstLogin(tuple(written), (old, new) if old != new else None)


def _login_of(target: OpenDirectory, options: IlsOptions) -> tuple[str, str, str]:
    if are_ours(options):
        population = generate(spec_of(options, options.entries)).population
        # Seeding has not logged in as the last person, so the hash of this person can still change.
        number = options.entries - 1
        return population.dn(number), population.password(number), ""
    accounts = accounts_in(options)
    password, hint = accounts.cell(0, accounts.password), f"; it is the first of {accounts.file}"
    if accounts.dn is not None and options.how in (None, BIND):
        return accounts.cell(0, accounts.dn), password, hint
    from ldap3.utils.conv import escape_filter_chars
    from ldap3.utils.dn import escape_rdn

    assert accounts.name is not None, "a search needs a name"
    name = accounts.cell(0, accounts.name)
    if options.how in (None, BIND):
        return f"{accounts.attribute}={escape_rdn(name)},{target.base}", password, hint
    condition = f"({accounts.attribute}={escape_filter_chars(name)})"
    return _find(target, condition), password, hint


def _find(target: OpenDirectory, condition: str) -> str:
    from ils_bench.targets.probe import connect, search

    with connect(target.address, target.who, target.trust, brief=True) as service:
        entries = search(service, target.base, condition, "SUBTREE", "1.1", size_limit=2)
        result = service.result["description"]
    if len(entries) == 1:
        return str(entries[0]["dn"])
    number = f"{len(entries) or 'no'} entries below {target.base!r}: {result}"
    raise BadInput(
        f"{target.address}: {condition}, the first of the accounts, finds {number}",
        "look into the column and --base; who may search is said by --bind-dn",
    )


def _state(service: Any, dn: str) -> Mapping[str, tuple[str, ...]]:
    """Return the readable attributes that a login can change; passwords become their schemes."""
    from ils_bench.targets.probe import read

    return {
        name: tuple(sorted(_scheme(value) if name == _HASH else value.decode() for value in values))
        for name, values in read(service, dn, *_WRITTEN, *_ENTRY, _HASH).items()
    }


def _changes(initial: Mapping[str, Any], final: Mapping[str, Any]) -> list[str]:
    return [name for name in (*_WRITTEN, *_ENTRY) if initial.get(name) != final.get(name)]


def _scheme(value: bytes) -> str:
    scheme, brace, _ = value.partition(b"}")
    return (scheme + brace).decode() if brace and value.startswith(b"{") else "cleartext"
