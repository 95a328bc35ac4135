"""The process of an embedded web server: `python -m web_bench.targets.embedded`.

For workloads with some requests over TLS it has two servers of the same folder, one with TLS.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from typing import Any

from sitebench._engine import WebServer
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated
from sitebench.system.scratch import scratch
from sitebench.targets.in_process import certificate, stopping
from web_bench.targets.cgi import PATH, install

PROGRAMS = {
    "cgi-env": f"{PATH}?kind=simcgi",
    "cgi": f"{PATH}?kind={{content}}&size={{size}}",
    "inprocess": "/dynamic/{content}?size={size}",
    "page": "/dynamic/page.shtml",
    "template": "/dynamic/template/{copy}",
}


def _start(request: dict[str, Any]) -> Service:
    with contextlib.ExitStack() as opening:
        folder = opening.enter_context(scratch())
        programs = install(folder, request["cgi_program"])
        config = request["config"] | {"cgi": str(programs)}
        if request["access_log"]:
            config["access_log"] = str(folder / "access.log")
        configs = [config]
        if request["secure"]:
            tls = certificate(tls=True, host=config["host"])
            configs.append(config | {"tls": tls})
        servers, ca = [], None
        for server_config in configs:
            with translated():
                server = WebServer(json.dumps(server_config))
            ca = stopping(server, opening)
            servers.append(server)

        def state() -> dict[str, int]:
            total: Counter[str] = Counter()
            for server in servers:
                total.update(server.stats())
            return dict(total)

        ready = {"port": servers[0].port, "secure_port": servers[-1].port, "ca": ca}
        return Service(ready, opening.pop_all().close, state)


if __name__ == "__main__":
    serve(_start)
