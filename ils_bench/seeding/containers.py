"""The entries above the people in a directory of the user's: made where they are missing.

Written through ldap3: there are two or three of them, and speed does not matter.
"""

from __future__ import annotations

from typing import Any

from ils_bench.targets.probe import WrongBase, exists

_CLASSES = {"o": "organization", "ou": "organizationalUnit", "dc": "domain", "c": "country"}
"""Structural classes of RFC 4519 and RFC 4524, by the attribute that names the entry."""


def make_containers(connection: Any, base: str) -> None:
    """Make the base and what is missing above it, as far as the directory lets us."""
    from ldap3.utils.dn import parse_dn, safe_rdn

    missing = []
    here = base
    while here and not exists(connection, here):
        missing.append(here)
        here = _parent(parse_dn(here))
    for dn in reversed(missing):
        (name, value), *rest = safe_rdn(dn, decompose=True)
        made = _CLASSES.get(name.lower())
        if made is None or rest:
            raise WrongBase(
                f"{dn!r} is not in the directory, and {name} names no container",
                "make it yourself, or name another DN with --base",
            )
        connection.add(dn, attributes={"objectClass": ["top", made], name: value})
        if connection.result["result"] != 0:
            raise WrongBase(
                f"the directory does not take {dn!r}: {connection.result['description']}",
                "name a DN below one of its suffixes with --base",
            )


def _parent(parts: list[tuple[str, str, str]]) -> str:
    """Return what follows a DN's first RDN, multi-valued or not."""
    written = []
    first = True
    for name, value, separator in parts:
        if not first:
            written.append(f"{name}={value}{separator}")
        elif separator != "+":
            first = False
    return "".join(written)
