"""The process of an embedded directory: `python -m ils_bench.targets.embedded`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

from ils_bench.targets.groups import groups_of
from ils_bench.targets.password_schemes import assure_bounded
from sitebench._engine import Directory
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.suite_base.embedded import serve_native
from sitebench.targets.in_process import certificate


def _make(request: dict[str, Any], _opening: ExitStack) -> Directory:
    spec = Spec.from_dict(request["people"])
    assure_bounded(spec.hash, spec.one_password)
    people = generate(spec)
    make_hashes(people)
    groups = groups_of(request.get("groups"), people.population, spec.profile)
    config = request["config"]
    if "tls" in config:
        config["tls"]["certificate"] = certificate(tls=True, host=config["host"])
    return Directory(json.dumps(config), people.population, groups)


if __name__ == "__main__":
    serve_native(_make)
