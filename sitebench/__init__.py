"""Workload tester for directories of online users and personalized web sites.

    import sitebench

    with sitebench.LdapDirectory(entries=10_000) as directory:
        print(sitebench.run("lookup", directory, users=64))

What both halves of a site share is in this package: the native engine's Python face
(`sitebench._engine`), the Locust bridge, the sweep, the method behind the numbers, the run store,
reports and the command line. Its public names are those below; each is imported when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ils_bench.sequences import (
        Add,
        Bind,
        Change,
        Compare,
        Connect,
        Delete,
        Lookup,
        Modify,
        Refresh,
        Repeat,
        Retrieve,
        Search,
        Sequence,
        Think,
        Unbind,
    )
    from ils_bench.targets.ldap_directory import LdapDirectory
    from ps_bench.targets.personalized_site import PersonalizedSite
    from sitebench._engine import Histogram, Population
    from sitebench.api.result import Result
    from sitebench.api.run import run
    from sitebench.errors import SitebenchError
    from sitebench.http.scenario import Capture, Expect, Identity, Operation, Request, Scenario
    from sitebench.runs.runfile import RunFile

__all__ = [
    "Add",
    "Bind",
    "Capture",
    "Change",
    "Compare",
    "Connect",
    "Delete",
    "Expect",
    "Histogram",
    "Identity",
    "LdapDirectory",
    "Lookup",
    "Modify",
    "Operation",
    "PersonalizedSite",
    "Population",
    "Refresh",
    "Repeat",
    "Request",
    "Result",
    "Retrieve",
    "RunFile",
    "Scenario",
    "Search",
    "Sequence",
    "SitebenchError",
    "Think",
    "Unbind",
    "run",
]

_HOMES = {
    "LdapDirectory": "ils_bench.targets.ldap_directory",
    "PersonalizedSite": "ps_bench.targets.personalized_site",
    "Histogram": "sitebench._engine",
    "Population": "sitebench._engine",
    "run": "sitebench.api.run",
    "SitebenchError": "sitebench.errors",
    "Result": "sitebench.api.result",
    "RunFile": "sitebench.runs.runfile",
    **dict.fromkeys(
        ("Capture", "Expect", "Identity", "Operation", "Request", "Scenario"),
        "sitebench.http.scenario",
    ),
}


if not TYPE_CHECKING:  # for a type checker, a name that is not above is a mistake

    def __getattr__(name: str) -> Any:
        """Import a public name when it is asked for first: importing this package stays quick."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(_HOMES.get(name, "ils_bench.sequences")), name)
        globals()[name] = found
        return found
