"""The choices of a worker: the client that makes its load, and the number of threads.

`sitebench worker --client ldap3` sets environment variables, as does a user who starts `locust
--worker` by hand. A suite without an option for the client uses the engine.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, TypeVar

from sitebench.options.option import fields_of
from sitebench.suite import suites

T = TypeVar("T")
_CLIENT, _THREADS = "SITEBENCH_CLIENT", "SITEBENCH_THREADS"
PORTABLE = tuple(dict.fromkeys(s.portable_client for s in suites() if s.portable_client))


def environment(client: str | None, threads: int | None) -> dict[str, str]:
    """Return the variables of a choice; for an unset option, the master's option is used."""
    variables = {_CLIENT: client, _THREADS: None if threads is None else str(threads)}
    return {name: value for name, value in variables.items() if value is not None}


def of_this_worker(options: T) -> T:
    """Return a test's options with the choices of this worker."""
    settings: dict[str, Any] = {}
    for field, spec in fields_of(type(options)):
        variable = {"client": _CLIENT, "threads": _THREADS}.get(field.name)
        if variable is not None and (text := os.environ.get(variable)):
            settings[field.name] = spec.parse(text)
    return dataclasses.replace(options, **settings)  # type: ignore[type-var]
