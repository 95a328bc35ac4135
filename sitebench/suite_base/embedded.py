"""A server in a process of its own, so that its CPU time can be measured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sitebench.system.child import Child, Service, lives, serve
from sitebench.system.native_errors import translated
from sitebench.system.version import version
from sitebench.targets.in_process import NativeServer, stopping
from sitebench.targets.limits import confine
from sitebench.targets.open_target import OpenTarget
from sitebench.targets.tls import Trust, trusting

if TYPE_CHECKING:  # A server's process does not need options.
    from sitebench.suite_base.options import SuiteOptions

_T = TypeVar("_T", bound=OpenTarget[Any])

_START_S = 3_600.0
"""Time limit for making a million people, or for filling a slapd with them."""
_NOT_SETTINGS = {"host", "port", "admin_password"}


def open_child(
    make: Callable[[str, Mapping[str, Any]], _T],
    module: str,
    options: SuiteOptions,
    config: Mapping[str, Any],
    *,
    data: Path | None = None,
    **request: Any,
) -> _T:
    """Start a suite's server, and return its target.

    `make` gets the host and the server's first answer; `data` is the folder of its files, if any.
    """
    limits, trust = options.target_limits, Trust.from_options(options)
    with contextlib.ExitStack() as opening:
        confinement = opening.enter_context(confine(limits, data))
        host = confinement.host or options.target_host or "127.0.0.1"
        config = {"host": host, "port": 0, "threads": options.target_threads, **config}
        request |= {"config": config}
        child = Child(module, request, timeout_s=_START_S, before=confinement.before)
        opened = opening.pop_all()
    opened.callback(child.stop)
    ca, pid = child.ready["ca"], child.ready.get("pid", child.pid)
    threads = config["threads"]
    return replace(
        make(host, child.ready),
        pid=pid,
        cores=threads if limits is None else min(threads, limits.processors or threads),
        disposable=True,
        alive=lambda: child.alive and lives(pid),
        stop=opened.close,
        counters=child.ask,
        trust=trust if ca is None else trusting(trust, ca),
        ca=ca,
        facts={
            "version": f"sitebench {version()}",
            "configuration": {k: v for k, v in config.items() if k not in _NOT_SETTINGS},
            **child.ready.get("facts", {}),
            **({} if limits is None else {"limits": str(limits)}),
        },
    )


def serve_native(make: Callable[[dict[str, Any], contextlib.ExitStack], NativeServer]) -> None:
    """Run as the process of a server, which `make` starts; the stack is closed at the end."""

    def start(request: dict[str, Any]) -> Service:
        with contextlib.ExitStack() as opening:
            with translated():
                server = make(request, opening)
            ready = {"port": server.port, "ca": stopping(server, opening)}
            return Service(ready, opening.pop_all().close, server.stats)

    serve(start)
