"""Password hashes that directory servers accept; the root DSE identifies the server.

A server that does not know a scheme can use the text of the hash as the password. The table of
docs/targets.md is generated from this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitebench._engine import hash_facts, hash_nanoseconds, profile_facts
from sitebench.errors import BadInput
from sitebench.seeders import HASHES
from sitebench.seeders.people import Spec

if TYPE_CHECKING:  # The embedded directory checks its bounds without a target.
    from ils_bench.targets.target import OpenDirectory

_MODULES = {
    "ssha512": "pw-sha2",
    "pbkdf2-sha256": "pw-pbkdf2",
    "pbkdf2-sha512": "pw-pbkdf2",
    "argon2": "argon2",
}
"""slapd's module for each scheme; Debian has pw-pbkdf2 in the package slapd-contrib."""


_EMBEDDED = {"slow_hash_bytes": 1 << 30, "slow_hash_ms": 1_000}
"""The embedded directory's limits for the check of a password (docs/limits.md)."""


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    identified_by: tuple[str, str]
    """An attribute of the server's root DSE, and a part of that attribute's value."""
    refuses: frozenset[str]
    """Schemes that the server does not know."""
    hashes_again: frozenset[str] = frozenset()
    """Schemes that the server replaces, at once or at the first login."""
    note: str = ""


_SLOW = ("pbkdf2-sha256", "pbkdf2-sha512", "argon2")
_HASHED = frozenset(HASHES) - {"clear"}

SERVERS = (
    Server("embedded", ("vendorName", "sitebench"), frozenset()),
    Server(
        "OpenLDAP",
        ("objectClass", "OpenLDAProotDSE"),
        frozenset(),
        note="with the modules pw-sha2, pw-pbkdf2 and argon2",
    ),
    Server(
        "389-DS",
        ("vendorName", "389 Project"),
        frozenset({"argon2"}),
        frozenset(HASHES) - {"crypt", "argon2"},
        "hashed values from Directory Manager alone",
    ),
    Server(
        "OpenDJ",
        ("vendorName", "Open Identity Platform"),
        frozenset(_SLOW),
        frozenset({"clear"}),
        "hashed values with allow-pre-encoded-passwords alone",
    ),
    Server(
        "ApacheDS",
        ("vendorName", "Apache Software Foundation"),
        frozenset(_SLOW),
        frozenset({"clear"}),
        "crypt with 5,000 rounds alone",
    ),
    Server(
        "Active Directory",
        ("supportedCapabilities", "1.2.840.113556.1.4.800"),
        _HASHED,
        frozenset({"clear"}),
        "unicodePwd, which it hashes itself",
    ),
)


def server_of(root_dse: Mapping[str, Any]) -> Server | None:
    for server in SERVERS:
        attribute, part = server.identified_by
        if part in root_dse.get(attribute, ""):
            return server
    return None


def assure_bounded(
    hashed: str | None, password: str | None = None, limits: Mapping[str, int] | None = None
) -> None:
    """Raise if a hash exceeds the memory or time that the embedded directory spends on a check.

    `password` is the password of all people, if they share one.
    """
    if hashed is None:
        return
    _, _, _, memory = hash_facts(hashed)
    bounds = {**_EMBEDDED, **(limits or {})}
    if memory > bounds["slow_hash_bytes"]:
        raise BadInput(
            f"{hashed} takes {memory / 2**30:.2f} GiB of memory for each login, and the embedded "
            f"directory takes {bounds['slow_hash_bytes'] / 2**30:g} for all (slow_hash_bytes)",
            "name less memory, such as argon2:64m",
        )
    # `password` is None for generated passwords, which are short.
    takes_ms = hash_nanoseconds(hashed, len((password or "").encode())) / 1e6
    if takes_ms > bounds["slow_hash_ms"]:
        raise BadInput(
            f"{hashed} may take {takes_ms / 1e3:.3g} s of CPU for each login, and the embedded "
            f"directory takes {bounds['slow_hash_ms'] / 1e3:g} at most (slow_hash_ms)",
            "name fewer rounds or passes, less memory, or a shorter password",
        )


def assure_taken(target: OpenDirectory, people: Spec) -> None:
    """Raise if a directory would use the text of a hash as the password, or refuse the hash."""
    _, _, has_passwords = profile_facts(people.profile)
    server = server_of(target.facts or {})
    if server is None or not has_passwords or people.profile == "ad":
        return
    if server.name == "embedded":
        assure_bounded(people.hash, people.one_password)
    hashed = people.hash or HASHES[0]
    name = hashed.partition(":")[0]
    _, scheme, _, _ = hash_facts(hashed)
    schemes = [scheme for scheme in HASHES if scheme not in server.refuses]
    if name in server.refuses:
        raise BadInput(
            f"{target.address} is {server.name}, which does not know {scheme}: it might take the "
            "text of the hash for the password",
            f"name one that it takes with --hash: {', '.join(schemes)}",
        )
    if server.name == "ApacheDS" and name == "crypt" and hashed != "crypt":
        raise BadInput(
            f"{target.address} is {server.name}, which knows {scheme} with 5,000 rounds alone",
            "leave the rounds out: --hash crypt",
        )


def module_of(hashed: str | None) -> str | None:
    return _MODULES.get((hashed or HASHES[0]).partition(":")[0])


def remedy_of(target: OpenDirectory, hashed: str | None) -> str | None:
    server, module = server_of(target.facts or {}), module_of(hashed)
    if server is None or module is None or server.name != "OpenLDAP":
        return None
    package = " (Debian: slapd-contrib)" if module == "pw-pbkdf2" else ""
    return f"slapd checks {hashed} with a module: `moduleload {module}`{package}"
