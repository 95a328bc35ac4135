"""The engine's configuration for a test of a web server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.targets import engine_config as shared
from web_bench.options import WebOptions
from web_bench.targets.open_web import OpenWeb
from web_bench.workload import Workload


def engine_config(
    options: WebOptions, target: OpenWeb, workloads: Sequence[Workload], *, slot: WorkerSlot
) -> str:
    address, trust = target.address, target.trust.to_engine()
    secure = target.secure
    sets = [workload.file_set for workload in workloads if workload.file_set is not None]
    config: dict[str, Any] = {
        "protocol": "http",
        "base_path": address.base_path,
        "files": sets[0].spec(options.seed) if sets else None,
        "tls": trust if address.is_encrypted else None,
        "phases": True,
        "addresses": [{"host": a.host, "port": a.port} for a in target.addresses],
    }
    if secure is not None and secure != address:
        config["secure"] = {"host": secure.host, "port": secure.port, "tls": trust}
    keepalive = bool(options.keepalive) and not options.scenario
    extra = {"programs": dict(target.programs), "keepalive": keepalive}
    return shared.engine_config(
        options,
        address,
        slot,
        target=config,
        adds={"start": 0, "keys": 1},
        scenarios=[workload.spec(slot) | extra for workload in workloads],
    )
