"""An open web site: an open target that is probed by one request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitebench.http.address import Address, parse_address, probe
from sitebench.targets import ownership
from sitebench.targets.open_target import OpenTarget
from sitebench.targets.tls import Trust


@dataclass(frozen=True)
class OpenSite(OpenTarget[Address]):
    def probe(self) -> str | None:
        return probe(self.address, self.trust)


def open_live(options: Any) -> OpenSite:
    """Address a site that runs already; raises what is wrong with it."""
    address, trust = parse_address(options.target), Trust.of(options)
    server = probe(address, trust)
    facts = {} if server is None else {"server": server}
    return OpenSite("the site", address, facts=facts, trust=trust, ca=options.tls_ca)


def assure_own(options: Any, what: str) -> None:
    """Raise NotYours unless `what` may write to the site that options name."""
    address = parse_address(options.target)
    ownership.assure_own(address.host, address.port, owned=options.i_own_this_target, what=what)
