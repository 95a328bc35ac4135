"""The embedded directory in a process of its own: `python -m ils_bench.targets.embedded`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from ils_bench.targets.address import Address, scheme_of
from ils_bench.targets.people import read_spec
from ils_bench.targets.target import OpenDirectory
from seeders.people import Spec, generate
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated
from sitebench.targets.embedded import open_child, service
from sitebench.targets.tls import SYSTEM, Trust


def open_embedded(
    people: Spec | None,
    config: Mapping[str, Any],
    *,
    name: str = "embedded",
    trust: Trust = SYSTEM,
) -> OpenDirectory:
    """Start the directory and return when it listens."""
    asked = None if people is None else people.to_dict()
    host, port, known = open_child("ils_bench.targets.embedded", config, trust, people=asked)
    base = config["suffix"] if people is None else people.base
    return OpenDirectory(name, Address(host, port, scheme_of(config.get("tls"))), base, **known)


def start(request: dict[str, Any]) -> Service:
    """Start serving what the request says."""
    from sitebench._engine import Directory

    found = request["people"]
    people = None if found is None else generate(read_spec(found)).population
    with contextlib.ExitStack() as opening:
        with translated():
            directory = Directory(json.dumps(request["config"]), people)
        return service(directory, opening)


if __name__ == "__main__":
    serve(start)
