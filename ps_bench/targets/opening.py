"""From a target's name to an open site that serves the people."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ps_bench.options import PsOptions
from ps_bench.targets.embedded import open_embedded
from ps_bench.targets.target import OpenSite
from seeders.upd import Progress, Upd, UpdSpec, cached, inspect
from sitebench.http.address import parse_address, probe
from sitebench.targets import ownership
from sitebench.targets.tls import ServerTls, Trust


def spec_of(options: PsOptions) -> UpdSpec:
    """Return the people that options ask for."""
    return UpdSpec(options.entries, options.seed, options.locales)


def database_of(options: PsOptions, progress: Progress = lambda done, total: None) -> Upd:
    """Return the database that options ask for: the one they name, or the one of that size."""
    if options.database is None:
        return cached(spec_of(options), progress)
    return inspect(spec_of(options), Path(options.database))


def assure_own(options: PsOptions, what: str) -> None:
    """Raise NotYours unless `what` may write to the site that options name."""
    address = parse_address(options.target)
    ownership.assure_own(address.host, address.port, owned=options.i_own_this_target, what=what)


def live(options: PsOptions) -> OpenSite:
    """Address a site that runs already; raises what is wrong with it."""
    address, trust = parse_address(options.target), Trust.of(options)
    server = probe(address, trust)
    facts = {} if server is None else {"server": server}
    return OpenSite("the site", address, facts=facts, trust=trust, ca=options.tls_ca)


@contextlib.contextmanager
def open_target(
    options: PsOptions, progress: Progress = lambda done, total: None
) -> Iterator[OpenSite]:
    """Open the site that options name; an embedded one on a copy of its database."""
    if options.target != "embedded":
        yield live(options)
        return
    config: dict[str, Any] = {
        "host": options.target_host or "127.0.0.1",
        "port": 0,
        "threads": options.target_threads,
        "durability": options.durability,
        "row_cache": options.row_cache,
    }
    if options.tls:
        config["tls"] = ServerTls().to_engine(config["host"])
    upd, trust = database_of(options, progress), Trust.of(options)
    with open_embedded(config, upd.path, {"size": options.entries}, trust) as site:
        yield site
