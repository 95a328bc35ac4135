"""A web site: its address, a probe that asks once whether it answers, and an open target."""

from __future__ import annotations

import errno
import http.client
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sitebench.errors import OutOfPorts, TargetTalksNonsense, TargetUnreachable, UnknownValue
from sitebench.measure.diagnosis import PORTS_REMEDY
from sitebench.system import secret
from sitebench.targets import ownership
from sitebench.targets.open_target import OpenTarget
from sitebench.targets.tls import SYSTEM, Trust, short, tls_failed

_ANSWER_S = 5.0
_REMEDY = "write embedded, or an address such as http://127.0.0.1:8080"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class SiteAddress:
    """Where a site listens, and below which path it is."""

    host: str
    port: int
    base_path: str = ""
    scheme: str = "http"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.base_path}"

    @property
    def encrypted(self) -> bool:
        return self.scheme == "https"


def parse_address(url: str) -> SiteAddress:
    """Read http://host:port/path; the port is 80 unless given."""
    try:
        parts = urlsplit(secret.address(url))
        port = parts.port
    except ValueError:
        raise UnknownValue(f"target {url!r} has no valid port", _REMEDY) from None
    if parts.scheme in ("ldap", "ldaps"):
        directories = "measure it with `sitebench ils`"
        raise UnknownValue(f"{url} is a directory, not a web site", directories)
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UnknownValue(f"unknown target {url!r}", _REMEDY)
    return SiteAddress(
        parts.hostname, port or _PORTS[parts.scheme], parts.path.rstrip("/"), parts.scheme
    )


@dataclass(frozen=True)
class FrontPage:
    """What a site answers to a stranger: its Server header, and a body."""

    server: str | None
    body: bytes


def probe(address: SiteAddress, trust: Trust = SYSTEM) -> FrontPage:
    """Raise what is wrong with a site, or return its front page; any HTTP answer will do."""
    connection: http.client.HTTPConnection
    if address.encrypted:
        connection = http.client.HTTPSConnection(
            address.host, address.port, timeout=_ANSWER_S, context=trust.context()
        )
    else:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=_ANSWER_S)
    try:
        _connect(connection, address)
        try:
            connection.request("GET", f"{address.base_path}/", headers={"Connection": "close"})
            answer = connection.getresponse()
            try:
                body = answer.read()
            except http.client.IncompleteRead as cut:
                body = cut.partial
            return FrontPage(answer.getheader("Server"), body)
        except (OSError, http.client.HTTPException) as error:
            why = "no answer" if isinstance(error, TimeoutError) else short(error)
            raise tls_failed(address, error) or TargetTalksNonsense(
                f"{address} does not answer as a web server does: {why}",
                "check host and port, whether it is http or https there, and that the site is not "
                "overloaded already",
            ) from error
    finally:
        connection.close()


def _connect(connection: http.client.HTTPConnection, address: SiteAddress) -> None:
    try:
        connection.connect()
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            raise OutOfPorts(f"no local port is left to reach {address}", PORTS_REMEDY) from error
        raise tls_failed(address, error) or TargetUnreachable(
            f"nothing answers at {address}: {error.strerror or error}",
            "check host and port, and that the site is running",
        ) from error


@dataclass(frozen=True)
class OpenSite(OpenTarget[SiteAddress]):
    def probe(self) -> FrontPage:
        return probe(self.address, self.trust)


def open_live(options: Any) -> OpenSite:
    """Address a site that runs already; raises what is wrong with it."""
    address, trust = parse_address(options.target), Trust.of(options)
    server = probe(address, trust).server
    facts = {} if server is None else {"server": server}
    return OpenSite("the site", address, facts=facts, trust=trust, ca=options.tls_ca)


def assure_own(options: Any, what: str) -> None:
    """Raise NotYours unless `what` may write to the site that options name."""
    address = parse_address(options.target)
    ownership.assure_own(address.host, address.port, owned=options.i_own_this_target, what=what)
