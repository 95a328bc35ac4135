"""What the engine reads of a workload at a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.targets import engine_config as shared
from web_bench.options import TestOptions, keeps_connections
from web_bench.targets.open_web import OpenWeb
from web_bench.workload import RequestClass, Workload

_COPIES = 100
"""What `{copy}` in a program's path counts to: paper 001's "one of 100 identical pages"."""


def engine_config(
    options: TestOptions, target: OpenWeb, workloads: Sequence[Workload], *, slot: WorkerSlot
) -> str:
    """Return the configuration of one engine."""
    address, trust = target.address, target.trust.to_engine()
    http10 = not keeps_connections(options, workloads[0])
    secure = target.secure
    spec = next((each.files.spec(options.seed) for each in workloads if each.files), None)
    config: dict[str, Any] = {
        "protocol": "http",
        "base_path": address.base_path,
        "keepalive": not http10,
        "http10": http10,
        "files": spec,
        "tls": trust if address.encrypted else None,
        "phases": True,
        "addresses": [{"host": each.host, "port": each.port} for each in target.addresses],
    }
    if secure is not None and secure != address:
        config["secure"] = {"host": secure.host, "port": secure.port, "tls": trust}
    return shared.engine_config(
        options,
        address,
        slot,
        target=config,
        adds={"start": 0, "keys": 1},
        programs=[_program(each, options, target) for each in workloads],
    )


def _program(workload: Workload, options: TestOptions, target: OpenWeb) -> dict[str, Any]:
    branches = [
        {"weight": weight, "steps": [_step(each, target)]}
        for each, weight in zip(workload.classes, workload.deck, strict=True)
    ]
    steps: list[dict[str, Any]] = [{"op": "deck", "branches": branches}]
    if options.think > 0:
        think = {"op": "think", "mean_ms": options.think * 1e3, "distribution": "exponential"}
        steps.append(think)
    return {"name": workload.name, "counts": "sequence", "steps": steps}


def _step(each: RequestClass, target: OpenWeb) -> dict[str, Any]:
    # A target that is TLS altogether has one address for everything.
    where = {"tls": True} if each.tls and target.secure != target.address else {}
    if each.files is not None:
        return {"op": "file", "name": each.name, "class": each.files.name, **where}
    requests = [_request(each, path) | where for path in _paths(each, target.programs)]
    if len(requests) == 1:
        return requests[0]
    return {"op": "deck", "branches": [{"weight": 1, "steps": [one]} for one in requests]}


def _paths(each: RequestClass, programs: Mapping[str, str]) -> Sequence[str]:
    if not each.dynamic:
        return each.paths
    size = each.size_about if each.size is None else each.size
    path = programs[each.dynamic].replace("{size}", str(size)).replace("{content}", each.content)
    if "{copy}" not in path:
        return (path,)
    return [path.replace("{copy}", str(copy)) for copy in range(_COPIES)]


def _request(each: RequestClass, path: str) -> dict[str, Any]:
    expect: dict[str, Any] = {"status": list(each.status)}
    # Only whole answers have the length: not one to HEAD, nor "not modified".
    if each.size is not None and each.method == "GET" and each.status == (200,):
        expect["length"] = each.size
    return {
        "op": "request",
        "name": each.name,
        "method": each.method,
        "path": path,
        "headers": dict(each.headers),
        "match": "plain",
        "expect": expect,
    }
