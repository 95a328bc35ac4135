"""An open web server, and the check of its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sitebench.errors import BadInput
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from web_bench.workload import DYNAMIC, Workload


@dataclass(frozen=True)
class OpenWeb(OpenSite):
    secure: SiteAddress | None = field(default=None, kw_only=True)
    """Address of requests over TLS, if it differs."""
    programs: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    addresses: Sequence[SiteAddress] = field(default=(), kw_only=True)
    """Further addresses, which clients use in turn."""


def check_able(
    target: str, workload: Workload, programs: Mapping[str, str], *, secure: bool
) -> None:
    for kind in sorted(workload.kinds - programs.keys()):
        raise BadInput(
            f"{target} has no program of the kind {kind!r} ({DYNAMIC[kind]}), which "
            f"{workload.name} asks for",
            f"use another --target, or say where it has one: --programs {kind}=/PATH",
        )
    if workload.uses_tls and not secure:
        raise BadInput(
            f"{workload.name} asks for some pages over TLS, and {target} has one address",
            "give the other with --tls-target https://HOST:PORT",
        )
