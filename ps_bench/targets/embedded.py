"""The embedded site in a process of its own, so that its CPU is its own.

`python -m ps_bench.targets.embedded` is that process: it reads its configuration from standard
input and serves a copy of a database until that ends. The copy is its own, so that it goes away
however the parent ends.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ps_bench.targets.target import OpenSite
from sitebench.http.address import Address
from sitebench.system.child import Child, Service, serve
from sitebench.system.native_errors import translated
from sitebench.system.scratch import scratch
from sitebench.targets.tls import SYSTEM, CaFile, Trust, trusting

NOT_SETTINGS = {"host", "port"}
START_S = 600.0
"""A database of a million people is copied in seconds; a slow disk gets ten minutes."""


@contextlib.contextmanager
def open_embedded(
    config: Mapping[str, Any],
    upd: Path,
    expected: Mapping[str, Any],
    trust: Trust = SYSTEM,
) -> Iterator[OpenSite]:
    """Yield a site that serves a copy of a database, which goes away with it."""
    request = {"config": config, "upd": str(upd.resolve()), "expected": expected}
    child = Child("ps_bench.targets.embedded", request, timeout_s=START_S)
    ca = child.ready["ca"]
    scheme = "https" if config.get("tls") else "http"
    try:
        yield OpenSite(
            "embedded",
            Address(config.get("host", "127.0.0.1"), child.ready["port"], scheme=scheme),
            pid=child.pid,
            cores=config.get("threads", 1),
            alive=lambda: child.alive,
            trust=trust if ca is None else trusting(trust, ca),
            ca=ca,
            facts={
                "version": f"sitebench {version('sitebench')}",
                "configuration": {k: v for k, v in config.items() if k not in NOT_SETTINGS},
            },
        )
    finally:
        child.stop()


def start(request: dict[str, Any]) -> Service:
    """Start serving what the request says."""
    from sitebench._engine import Site, copy_upd

    with contextlib.ExitStack() as opening:
        database = str(opening.enter_context(scratch()) / "upd.sqlite")
        with translated():
            copy_upd(request["upd"], database)
            config = request["config"] | {"database": database}
            site = Site(json.dumps(config), json.dumps(request["expected"]))
        opening.callback(site.stop)
        ca = None
        if site.made_ca is not None:
            file = CaFile(site.made_ca)
            opening.callback(file.remove)
            ca = str(file.path)
        return Service({"port": site.port, "ca": ca}, opening.pop_all().close)


if __name__ == "__main__":
    serve(start)
