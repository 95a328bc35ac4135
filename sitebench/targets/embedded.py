"""A native server in a process of its own, so that its CPU time can be measured.

The process runs a suite's module, which calls `serve` of `sitebench.system.child`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sitebench.system.child import Child, Service
from sitebench.system.version import version
from sitebench.targets.in_process import NativeServer, stopping
from sitebench.targets.limits import Limits, confine
from sitebench.targets.open_target import Known
from sitebench.targets.tls import Trust, trusting

_START_S = 600.0
"""Time limit for making or copying a million people, which takes seconds on a fast machine."""
_NOT_SETTINGS = {"host", "port", "admin_password"}


def open_child(
    module: str,
    config: Mapping[str, Any],
    trust: Trust,
    *,
    limits: Limits | None = None,
    data: Path | None = None,
    **request: Any,
) -> tuple[str, dict[str, Any], Known]:
    """Start a suite's server; return its host, its first answer, and the fields of its OpenTarget.

    `data` is the folder of the target's files, if any.
    """
    with contextlib.ExitStack() as opening:
        confinement = opening.enter_context(confine(limits, data))
        config = {**config, "host": confinement.host or config.get("host", "127.0.0.1")}
        request |= {"config": config}
        child = Child(module, request, timeout_s=_START_S, before=confinement.before)
        opened = opening.pop_all()
    opened.callback(child.stop)
    ca = child.ready["ca"]
    threads = config.get("threads", 1)
    fields: Known = {
        "pid": child.pid,
        "cores": threads if limits is None else min(threads, limits.processors or threads),
        "disposable": True,
        "alive": lambda: child.alive,
        "stop": opened.close,
        "counters": child.ask,
        "trust": trust if ca is None else trusting(trust, ca),
        "ca": ca,
        "facts": {
            "version": f"sitebench {version()}",
            "configuration": {k: v for k, v in config.items() if k not in _NOT_SETTINGS},
            **({} if limits is None else {"limits": str(limits)}),
        },
    }
    return config["host"], child.ready, fields


def service(server: NativeServer, opened: contextlib.ExitStack) -> Service:
    ca = stopping(server, opened)
    return Service({"port": server.port, "ca": ca}, opened.pop_all().close, server.stats)
