"""Where people can be put: an LDIF file, a folder for slapd, a running directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ils_bench.targets.address import DirectoryAddress, parse_address
from sitebench.errors import UnknownValue

_SLAPD = "slapd:"


@dataclass(frozen=True)
class Stream:
    """LDIF on standard output or input."""

    def __str__(self) -> str:
        return "standard input"


@dataclass(frozen=True)
class LdifFile:
    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class SlapdFolder:
    """A folder that slapd can be started on."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True)
class LiveDirectory:
    """A running directory; its URL may name the base."""

    address: DirectoryAddress
    base: str | None

    def __str__(self) -> str:
        return str(self.address)


Destination = Stream | LdifFile | SlapdFolder | LiveDirectory


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
