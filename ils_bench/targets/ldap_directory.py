"""The embedded directory inside this process: for `serve`, for tests, and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ils_bench.suite import SUITE
from ils_bench.targets.address import START_TLS, scheme_of
from seeders.people import Profile, Spec, generate
from seeders.pools import DEFAULT_LOCALES
from sitebench._engine import Directory, Population
from sitebench.system.native_errors import translated
from sitebench.targets.tls import CaFile, ServerTls

DEFAULT_SUFFIX = "o=Intranet"


class LdapDirectory:
    """A real LDAP directory, served by native threads of this process until it is closed.

        with LdapDirectory(entries=1_000) as directory:
            connection = ldap3.Connection(directory.url, auto_bind=True)

    People are those of the seed, under `base`; an LDIF file is loaded beside them, or alone with
    `entries=0`. Everybody may write unless there is an administrator or it is read-only. `limits`
    bound what one client can ask of it, by the names in docs/trust.md.

    With `tls=True` it speaks ldaps with a certificate made for it, or StartTLS with `start_tls`;
    `ca` is the file that clients check it by:

        with LdapDirectory(tls=True) as directory:
            trust = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=directory.ca)
    """

    suite = SUITE.name
    """For `sitebench.run`: which operations it is a target of."""

    def __init__(
        self,
        entries: int = 1_000,
        *,
        ldif: Path | str | None = None,
        suffix: str = DEFAULT_SUFFIX,
        profile: Profile = "paper",
        seed: int = 1997,
        locales: tuple[str, ...] = DEFAULT_LOCALES,
        admin_dn: str | None = None,
        admin_password: str | None = None,
        read_only: bool = False,
        require_bind: bool = False,
        limits: Mapping[str, int] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        threads: int = 1,
        tls: bool | ServerTls = False,
        start_tls: bool = False,
    ) -> None:
        self.suffix = suffix
        self.host = host
        self.threads = threads
        self.people: Population | None = None
        """Who is in it: names, DNs and every attribute of person i."""
        if entries:
            spec = Spec(entries, seed, profile, locales, f"ou=Dynamic,{suffix}")
            self.people = generate(spec).population
        config: dict[str, Any] = {
            "host": host,
            "port": port,
            "threads": threads,
            "suffix": suffix,
            "profile": profile,
            "ldif": None if ldif is None else str(ldif),
            "admin_dn": admin_dn,
            "admin_password": admin_password,
            "read_only": read_only,
            "require_bind": require_bind,
            "limits": dict(limits or {}),
        }
        if tls or start_tls:
            shown = tls if isinstance(tls, ServerTls) else ServerTls()
            config["tls"] = {"certificate": shown.to_engine(host), "start": start_tls}
        self._scheme = scheme_of(config.get("tls"))
        with translated():
            self._directory = Directory(json.dumps(config), self.people)
        made = self._directory.made_ca
        self._ca = None if made is None else CaFile(made)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._directory.port

    @property
    def url(self) -> str:
        """Its address, as clients take it."""
        return f"{self._scheme.partition('+')[0]}://{self._directory.address}"

    @property
    def start_tls(self) -> bool:
        """Whether clients connect in the clear and ask for TLS."""
        return self._scheme == START_TLS

    @property
    def ca(self) -> str | None:
        """File with the authority of a certificate that was made for it."""
        return None if self._ca is None else str(self._ca.path)

    @property
    def base(self) -> str:
        """DN under which the people are; the suffix where there are none."""
        return self.suffix if self.people is None else f"ou=Dynamic,{self.suffix}"

    def stats(self) -> dict[str, int]:
        """Return its counters: operations by kind, connections, entries."""
        return self._directory.stats()

    def close(self) -> None:
        """Close every connection and forget every entry; calling it again does nothing."""
        self._directory.stop()
        if self._ca is not None:
            self._ca.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        who = 0 if self.people is None else self.people.size
        return f"<LdapDirectory {self.url} suffix={self.suffix!r} people={who:,}>"
