"""An open directory with people under a base DN."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, replace
from typing import Any, Self

from ils_bench.options import IlsOptions
from ils_bench.targets import journal
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.identity import ANONYMOUS, Identity, identity_of
from sitebench.targets.open_target import OpenTarget

_BIND = bytes.fromhex("300c 020101 6007 020103 0400 8000")
"""An anonymous bind: message 1, version 3, empty name and password (RFC 4511 section 4.2)."""
_BOUND = bytes.fromhex("300c 020101 6107 0a0100 0400 0400")
_ANSWER_S = 5.0


@dataclass(frozen=True)
class OpenDirectory(OpenTarget[DirectoryAddress]):
    base: str
    who: Identity = ANONYMOUS

    def probe(self) -> None:
        """Raise if the directory cannot be used; the base is not checked again."""
        if self.who == ANONYMOUS and self.address.scheme == "ldap" and self._takes_a_bind():
            return
        # Imported late: an import of ldap3 takes 0.2 s.
        from ils_bench.targets.probe import probe

        probe(self.address, None, self.who, self.trust)

    def _takes_a_bind(self) -> bool:
        """Return whether an anonymous bind succeeds; ldap3 is not imported for this check."""
        try:
            place = (self.address.host, self.address.port)
            with socket.create_connection(place, _ANSWER_S) as connection:
                connection.sendall(_BIND)
                return connection.recv(len(_BOUND) + 1) == _BOUND
        except OSError:
            return False

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "who": {}}

    def with_options(self, options: IlsOptions) -> Self:
        own_options = replace(options, target=str(self.address), tls_cert=self.trust.cert)
        return replace(self, who=identity_of(own_options))

    def pending_cleanup(self, pid: int) -> str | None:
        reservation = journal.unfinished_reservation(pid)
        return None if reservation is None else reservation.removal

    def to_engine(self) -> str:
        return json.dumps(
            {
                "host": self.address.host,
                "port": self.address.port,
                "base": self.base,
                **self.who.to_engine(),
                "tls": self.address.engine_tls(self.trust),
            }
        )
