"""From the failures of a point to an error with a remedy."""

from __future__ import annotations

import errno

from sitebench.errors import (
    Leak,
    OutOfDescriptors,
    OutOfPorts,
    PointFailed,
    SitebenchError,
    TargetTalksNonsense,
    TargetUnreachable,
    WrongPassword,
)
from sitebench.runs.point import PointResult
from sitebench.units import plural
from sitebench.verdict.verdict import Bound

PORTS_REMEDY = (
    "wait a minute for TIME_WAIT to pass, use fewer users, or widen net.ipv4.ip_local_port_range"
)

NOTHING_REMEDY = (
    "check that the target answers; if it is only slow, measure longer, with fewer users"
)

_OTHERWISE = (
    "check the target: its answers do not match the requests; `sitebench docs troubleshooting` has "
    "the usual causes"
)
NOT_ALLOWED_REMEDY = "bind as a user with this right: --bind-dn DN --password-file FILE"
NOT_ALLOWED = frozenset(("result:strongerAuthRequired", "result:insufficientAccessRights"))
"""Failures of requests for which the bound user has no rights."""

_KNOWN: dict[str | None, tuple[type[SitebenchError], str]] = {
    None: (PointFailed, NOTHING_REMEDY),
    "timeout": (PointFailed, NOTHING_REMEDY),
    "malformed": (TargetTalksNonsense, "check host and port"),
    "connect-refused": (TargetUnreachable, "check that the target is running"),
    "result:invalidCredentials": (WrongPassword, "check the bind DN and its password"),
    **dict.fromkeys(NOT_ALLOWED, (PointFailed, NOT_ALLOWED_REMEDY)),
    "result:inappropriateAuthentication": (PointFailed, NOT_ALLOWED_REMEDY),
    "connect-timeout": (TargetUnreachable, "check the network between here and the target"),
}


def void(result: PointResult) -> SitebenchError | None:
    """Return why a point's figures do not count as a measurement; None if they count."""
    kinds = result.failures_by_kind
    point = result.spec.title
    if n := kinds.get("out-of-ports"):
        return OutOfPorts(f"{point}: {plural(n, 'connection')} found no local port", PORTS_REMEDY)
    if n := kinds.get("out-of-fds"):
        message = f"{point}: {plural(n, 'connection')} found no file descriptor"
        return OutOfDescriptors(message, "raise `ulimit -n`, or use fewer users")
    if kinds.get(Bound.LEAK):
        message = f"{point}: {result.verdict.evidence}"
        return Leak(message, "repair the target first: its other figures do not matter until then")
    if result.operations > 0:
        return None
    message = f"{point}: {result.verdict.evidence}"
    kind = max(kinds, key=lambda name: kinds[name], default=None)
    error, remedy = _KNOWN.get(kind, (PointFailed, _OTHERWISE))
    if kind == "result:noSuchObject" and result.spec.target == "embedded":
        remedy = (
            "name your directory with --target: this was the embedded directory, with its own "
            "people"
        )
    return error(message, remedy)


def unreachable(address: object, error: OSError, server: str) -> SitebenchError:
    """Return the error to raise if a connection to an address cannot be opened."""
    if error.errno == errno.EADDRNOTAVAIL:
        return OutOfPorts(f"no local port is left to reach {address}", PORTS_REMEDY)
    return TargetUnreachable(
        f"nothing answers at {address}: {error.strerror or error}",
        f"check host and port, and that the {server} is running",
    )
