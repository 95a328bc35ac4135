"""Choice of the profile for a directory of the user's, by its schema."""

from __future__ import annotations

from typing import Any, TypeVar

from ils_bench.options import DirectoryOptions
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import identity_of
from sitebench.errors import SitebenchError
from sitebench.seeders import Profile
from sitebench.targets.tls import Trust

_T = TypeVar("_T", bound=DirectoryOptions)

_ACTIVE_DIRECTORY = b"1.2.840.113556.1.4.800"
"""Capability of Active Directory (MS-ADTS 3.1.1.3.4.3.1). It decides before the schema does:
Samba's schema has inetOrgPerson, but people of that class cannot log in at Samba.
"""
_WHY = {"ad": "it is an Active Directory", "person": "its schema has no RTPerson"}


def apply_profile(options: _T) -> _T:
    """Return options with the profile that the directory's schema allows, and print its name.

    A profile that the user named stays. The default profile stays if the papers' schema is loaded.
    An unreadable schema is reported when the directory is opened.
    """
    if options.is_set("profile") or options.names is not None or "://" not in options.target:
        return options
    try:
        profile = _profile(options)
    except SitebenchError:
        return options
    if profile is None:
        return options
    from sitebench.measure.command import say

    say(
        f"{options.target}: people of the profile {profile}, as {_WHY[profile]}; "
        "--profile names others"
    )
    return options.assign(profile=profile)


def _connected(options: DirectoryOptions) -> Any:
    from ils_bench.targets.probe import connect

    address = parse_address(options.target, start_tls=options.start_tls)
    return connect(address, identity_of(options), Trust.from_options(options), brief=True)


def _profile(options: DirectoryOptions) -> Profile | None:
    from ils_bench.targets.probe import read

    with _connected(options) as connection:
        capabilities = read(connection, "", "supportedCapabilities")
        if _ACTIVE_DIRECTORY in capabilities.get("supportedCapabilities", ()):
            return "ad"
        classes = _classes(connection)
        if not classes or any(b"'rtperson'" in name.lower() for name in classes):
            return None
        return "person"


def _classes(connection: Any) -> list[bytes]:
    from ils_bench.targets.probe import read

    root_dse = read(connection, "", "subschemaSubentry")
    (subschema, *_) = root_dse.get("subschemaSubentry") or [b""]
    if not subschema:
        return []
    # A server shows the schema if a search asks for its class (RFC 4512 section 4.4).
    dn, condition = subschema.decode(), "(objectClass=subschema)"
    return read(connection, dn, "objectClasses", condition=condition).get("objectClasses", [])


def posix_group_is_auxiliary(options: DirectoryOptions) -> bool:
    """Return whether posixGroup is an auxiliary class (RFC 2307bis)."""
    with _connected(options) as connection:
        names = [name.lower() for name in _classes(connection)]
    return any(b"'posixgroup'" in name and b" auxiliary" in name for name in names)
