"""A native server in a process of its own, so that its CPU time is its own.

The process is `python -m` a suite's module, which calls `serve` of `sitebench.system.child`: it
reads its request from standard input and serves until that ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from sitebench.system.child import Child, Service
from sitebench.targets.in_process import NativeServer, stopping
from sitebench.targets.tls import Trust, trusting

_START_S = 600.0
"""A million people are made, or copied, in seconds; a slow machine gets ten minutes."""
_NOT_SETTINGS = {"host", "port", "admin_password"}


def open_child(
    module: str, config: Mapping[str, Any], trust: Trust, **request: Any
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Start a suite's server; return its host, its first answer, and what an OpenTarget knows.

    The first answer has its `port`.
    """
    child = Child(module, {"config": dict(config), **request}, timeout_s=_START_S)
    ca = child.ready["ca"]
    known = {
        "pid": child.pid,
        "cores": config.get("threads", 1),
        "disposable": True,
        "alive": lambda: child.alive,
        "stop": child.stop,
        "counters": child.ask,
        "trust": trust if ca is None else trusting(trust, ca),
        "ca": ca,
        "facts": {
            "version": f"sitebench {version('sitebench')}",
            "configuration": {k: v for k, v in config.items() if k not in _NOT_SETTINGS},
        },
    }
    return config.get("host", "127.0.0.1"), child.ready, known


def service(server: NativeServer, opened: contextlib.ExitStack) -> Service:
    """Return what the child reports of its server, and how it ends."""
    ca = stopping(server, opened)
    return Service({"port": server.port, "ca": ca}, opened.pop_all().close, server.stats)
