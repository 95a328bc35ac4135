"""The embedded directory in a process of its own, so that its CPU is its own.

`python -m ils_bench.targets.embedded` is that process: it reads its configuration from standard
input and serves until that ends.
"""

from __future__ import annotations

import contextlib
import json
from importlib.metadata import version
from typing import Any

from ils_bench.targets.address import Address, scheme_of
from ils_bench.targets.people import read_spec
from ils_bench.targets.target import OpenTarget
from seeders.people import Spec, generate
from sitebench.system.child import Child, Service, serve
from sitebench.system.native_errors import translated
from sitebench.targets.tls import SYSTEM, CaFile, Trust, trusting

START_S = 600.0
"""A million people are made in seconds; a slow machine gets ten minutes."""
NOT_SETTINGS = {"host", "port", "admin_password"}


def open_embedded(
    people: Spec | None,
    config: dict[str, Any],
    *,
    name: str = "embedded",
    trust: Trust = SYSTEM,
) -> OpenTarget:
    """Start the directory and return when it listens."""
    request = {"config": config, "people": None if people is None else people.to_dict()}
    child = Child("ils_bench.targets.embedded", request, timeout_s=START_S)
    ca = child.ready["ca"]
    return OpenTarget(
        name,
        Address(config.get("host", "127.0.0.1"), child.ready["port"], scheme_of(config.get("tls"))),
        config["suffix"] if people is None else people.base,
        pid=child.pid,
        cores=config.get("threads", 1),
        disposable=True,
        alive=lambda: child.alive,
        close=child.stop,
        counters=child.ask,
        trust=trust if ca is None else trusting(trust, ca),
        ca=ca,
        facts={
            "version": f"sitebench {version('sitebench')}",
            "configuration": {k: v for k, v in config.items() if k not in NOT_SETTINGS},
        },
    )


def start(request: dict[str, Any]) -> Service:
    """Start serving what the request says."""
    from sitebench._engine import Directory

    found = request["people"]
    people = None if found is None else generate(read_spec(found)).population
    with translated():
        directory = Directory(json.dumps(request["config"]), people)
    opened = contextlib.ExitStack()
    opened.callback(directory.stop)
    ca = None
    if directory.made_ca is not None:
        file = CaFile(directory.made_ca)
        opened.callback(file.remove)
        ca = str(file.path)
    return Service({"port": directory.port, "ca": ca}, opened.close, directory.stats)


if __name__ == "__main__":
    serve(start)
