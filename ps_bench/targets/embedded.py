"""The embedded site in a process of its own: `python -m ps_bench.targets.embedded`.

It serves a copy of a database. The copy belongs to that process, so that it goes away however the
parent ends.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitebench.http.address import Address
from sitebench.http.open_site import OpenSite
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated
from sitebench.system.scratch import scratch
from sitebench.targets.embedded import open_child, service
from sitebench.targets.tls import SYSTEM, Trust


def open_embedded(
    config: Mapping[str, Any],
    upd: Path,
    expected: Mapping[str, Any],
    trust: Trust = SYSTEM,
) -> OpenSite:
    """Start a site that serves a copy of a database, and return when it listens."""
    request = {"upd": str(upd.resolve()), "expected": expected}
    host, port, known = open_child("ps_bench.targets.embedded", config, trust, **request)
    scheme = "https" if config.get("tls") else "http"
    return OpenSite("embedded", Address(host, port, scheme=scheme), **known)


def start(request: dict[str, Any]) -> Service:
    """Start serving what the request says."""
    from sitebench._engine import Site, copy_upd

    with contextlib.ExitStack() as opening:
        database = str(opening.enter_context(scratch()) / "upd.sqlite")
        with translated():
            copy_upd(request["upd"], database)
            config = request["config"] | {"database": database}
            site = Site(json.dumps(config), json.dumps(request["expected"]))
        return service(site, opening)


if __name__ == "__main__":
    serve(start)
