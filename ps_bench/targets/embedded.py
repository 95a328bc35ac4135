"""The process of an embedded site: `python -m ps_bench.targets.embedded`.

It serves a copy of a database, and deletes the copy even if its parent is killed.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from sitebench._engine import Site, copy_upd
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated
from sitebench.system.scratch import scratch
from sitebench.targets.embedded import service
from sitebench.targets.in_process import certificate


def _start(request: dict[str, Any]) -> Service:
    with contextlib.ExitStack() as opening:
        folder = opening.enter_context(scratch())
        database = str(folder / "upd.sqlite")
        with translated():
            copy_upd(request["upd"], database)
            config = request["config"] | {"database": database}
            if request["access_log"]:
                config["access_log"] = str(folder / "access.log")
            if request["tls"]:
                config["tls"] = certificate(tls=True, host=config["host"])
            site = Site(json.dumps(config), json.dumps(request["expected"]))
        return service(site, opening)


if __name__ == "__main__":
    serve(_start)
