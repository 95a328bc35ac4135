"""From a target's name to an open site that serves the people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ps_bench.options import PsOptions
from seeders.upd import Progress, Upd, UpdSpec, cached, inspect
from sitebench.http.site import Address, OpenSite, open_live
from sitebench.targets.embedded import open_child
from sitebench.targets.limits import refuse_limits
from sitebench.targets.tls import Trust

OWN_TARGETS = ("embedded",)
"""Targets that are started for a test; any other is the user's."""


def spec_of(options: PsOptions) -> UpdSpec:
    return UpdSpec(options.entries, options.seed, options.locales)


def database_of(options: PsOptions, progress: Progress = lambda done, total: None) -> Upd:
    """Return the database that options ask for: the one they name, or the one of that size."""
    if options.database is None:
        return cached(spec_of(options), progress)
    return inspect(spec_of(options), Path(options.database))


def open_target(options: PsOptions, progress: Progress = lambda done, total: None) -> OpenSite:
    """Open the site that options name; an embedded one on a copy of its database."""
    if options.target not in OWN_TARGETS:
        refuse_limits(options)
        return open_live(options)
    database = database_of(options, progress)
    config: dict[str, Any] = {
        "host": options.target_host or "127.0.0.1",
        "port": 0,
        "threads": options.target_threads,
        "durability": options.durability,
        "row_cache": options.row_cache,
    }
    host, ready, known = open_child(
        "ps_bench.targets.embedded",
        config,
        Trust.of(options),
        limits=options.target_limits,
        data=database.path.parent,
        upd=str(database.path.resolve()),
        tls=options.tls,
        expected={"size": options.entries},
    )
    address = Address(host, ready["port"], scheme="https" if options.tls else "http")
    return OpenSite("embedded", address, **known)
