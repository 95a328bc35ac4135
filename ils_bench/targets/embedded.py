"""The process of an embedded directory: `python -m ils_bench.targets.embedded`."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from ils_bench.targets.groups import groups_of
from ils_bench.targets.password_schemes import assure_bounded
from sitebench._engine import Directory
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.system.child import Service, serve
from sitebench.system.native_errors import translated
from sitebench.targets.embedded import service
from sitebench.targets.in_process import certificate


def _start(request: dict[str, Any]) -> Service:
    spec = Spec.from_dict(request["people"])
    assure_bounded(spec.hash, spec.one_password)
    people = generate(spec)
    make_hashes(people)
    groups = groups_of(request.get("groups"), people.population, spec.profile)
    config = request["config"]
    if "tls" in config:
        config["tls"]["certificate"] = certificate(tls=True, host=config["host"])
    with contextlib.ExitStack() as opening:
        with translated():
            directory = Directory(json.dumps(config), people.population, groups)
        return service(directory, opening)


if __name__ == "__main__":
    serve(_start)
