"""Destinations of people: an LDIF file, the folder of a slapd, a running directory."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import msgspec

from ils_bench.options import DirectoryOptions
from ils_bench.targets.address import DirectoryAddress, parse_address
from sitebench.errors import BadInput, UnknownValue
from sitebench.seeders import DEFAULT_BASE

_D = TypeVar("_D", bound=DirectoryOptions)
_SLAPD = "slapd:"


class Stream(msgspec.Struct, frozen=True):
    def __str__(self) -> str:
        return "standard input"


class LdifFile(msgspec.Struct, frozen=True):
    path: Path

    def __str__(self) -> str:
        return str(self.path)


class SlapdFolder(msgspec.Struct, frozen=True):
    path: Path

    def __str__(self) -> str:
        return str(self.path)


class LiveDirectory(msgspec.Struct, frozen=True):
    address: DirectoryAddress
    base: str | None

    def __str__(self) -> str:
        return str(self.address)


Destination = Stream | LdifFile | SlapdFolder | LiveDirectory


def with_base(options: _D) -> _D:
    if "://" not in options.target:
        return options
    destination = parse_destination(options.target)
    if not isinstance(destination, LiveDirectory) or destination.base is None:
        return options
    if options.base not in (DEFAULT_BASE, destination.base):
        raise BadInput(
            f"--target names the base {destination.base!r}, and --base {options.base!r}",
            "leave one of them out",
        )
    return options.assign(target=str(destination.address), base=destination.base)


def parse_destination(text: str) -> Destination:
    """Read people.ldif, -, slapd:/folder or ldap://host:port/base (RFC 4516)."""
    if text == "-":
        return Stream()
    if text.startswith(_SLAPD) and "://" not in text:
        folder = text.removeprefix(_SLAPD)
        if not folder:
            raise UnknownValue("slapd: names no folder", "write it like slapd:/srv/people")
        return SlapdFolder(Path(folder))
    if "://" in text:
        base = unquote(urlsplit(text).path.removeprefix("/"))
        return LiveDirectory(parse_address(text), base or None)
    if text in ("", "embedded", "openldap"):
        raise UnknownValue(
            f"{text!r} is not a running directory" if text else "no destination is named",
            "name people.ldif, slapd:/folder or ldap://host:port",
        )
    return LdifFile(Path(text))
