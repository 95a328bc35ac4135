from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ps_bench.options import PsOptions
from ps_bench.suite import SUITE
from sitebench.errors import BadInput
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite, open_live
from sitebench.scenario.script import Script
from sitebench.seeders.upd import Progress, Upd, UpdSpec, inspect, open_cached
from sitebench.suite_base.embedded import open_child

OWN_TARGETS = ("embedded",)

_WAY_IN = b"<form method=get action=/enter>"
"""The form on the front page of a personalized site, which distinguishes it from other sites."""


def spec_of(options: PsOptions) -> UpdSpec:
    return UpdSpec(options.entries, options.seed, options.locales)


def database_of(options: PsOptions, progress: Progress = lambda done, total: None) -> Upd:
    if options.database is None:
        return open_cached(spec_of(options), progress)
    return inspect(spec_of(options), Path(options.database))


def open_target(
    options: PsOptions,
    scenarios: Iterable[Script] = (),
    progress: Progress = lambda done, total: None,
) -> OpenSite:
    """Open the site of options; an embedded site serves a copy of its database.

    Raise if a site of the user's lacks the pages that built-in operations request.
    """
    if options.target not in OWN_TARGETS:
        site = open_live(options)
        own_paths = [scenario.path for scenario in scenarios if scenario.path in SUITE.operations]
        if own_paths and _WAY_IN not in site.probe().body:
            raise BadInput(
                f"{site.address} is not sitebench's own site, which {own_paths[0]!r} is for",
                "write down what users of your site do, as in `sitebench ps example`, and run that "
                "file; `sitebench docs scenarios` says how",
            )
        return site
    database = database_of(options, progress)

    def make_target(host: str, ready: Mapping[str, Any]) -> OpenSite:
        scheme = "https" if options.tls else "http"
        return OpenSite("embedded", SiteAddress(host, ready["port"], scheme=scheme))

    return open_child(
        make_target,
        "ps_bench.targets.embedded",
        options,
        {"durability": options.durability, "row_cache": options.row_cache},
        data=database.path.parent,
        upd=str(database.path.resolve()),
        tls=options.tls,
        access_log=options.access_log,
        expected={"size": options.entries},
    )
