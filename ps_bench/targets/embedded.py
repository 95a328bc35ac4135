"""The process of an embedded site: `python -m ps_bench.targets.embedded`.

It serves a copy of a database, and deletes the copy even if its parent is killed.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

from sitebench._engine import Site, copy_upd
from sitebench.suite_base.embedded import serve_native
from sitebench.system.scratch import scratch
from sitebench.targets.in_process import certificate


def _make(request: dict[str, Any], opening: ExitStack) -> Site:
    folder = opening.enter_context(scratch())
    database = str(folder / "upd.sqlite")
    copy_upd(request["upd"], database)
    config = request["config"] | {"database": database}
    if request["access_log"]:
        config["access_log"] = str(folder / "access.log")
    if request["tls"]:
        config["tls"] = certificate(tls=True, host=config["host"])
    return Site(json.dumps(config), json.dumps(request["expected"]))


if __name__ == "__main__":
    serve_native(_make)
