"""What a worker decides for itself: who runs its sequences, and on how many threads.

`sitebench worker --client ldap3` says it by environment variables, as may whoever starts
`locust --worker` by hand: the options of a test come from its master. A client of the other half
is no choice for this one: the same workers serve directories and sites.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import Any, TypeVar

from sitebench.errors import UnknownValue
from sitebench.options.option import fields_of

T = TypeVar("T")
CLIENT, THREADS = "SITEBENCH_CLIENT", "SITEBENCH_THREADS"
PORTABLE = ("ldap3", "fasthttp")
"""Clients that one half has: ldap3 that of directories, fasthttp that of sites."""


def environment(client: str | None, threads: int | None) -> dict[str, str]:
    """Return the variables that say so; what is not chosen is left to the master."""
    chosen = {CLIENT: client, THREADS: None if threads is None else str(threads)}
    return {name: value for name, value in chosen.items() if value is not None}


def of_this_worker(options: T) -> T:
    """Return a test's options with this worker's own choice in them."""
    chosen: dict[str, Any] = {}
    for each, spec in fields_of(type(options)):
        variable = {"client": CLIENT, "threads": THREADS}.get(each.name)
        if variable is not None and (text := os.environ.get(variable)):
            with contextlib.suppress(*([UnknownValue] if text in PORTABLE else [])):
                chosen[each.name] = spec.parse(text)
    return dataclasses.replace(options, **chosen)  # type: ignore[type-var]
