"""What the engine is told: target, schedule, keys and programs, as one JSON text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ps_bench.options import PsOptions
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import Address
from sitebench.http.scenario import Scenario
from sitebench.system.machine import engine_threads
from sitebench.targets.tls import SYSTEM, Trust

NEWCOMERS = 1_000_000_000
"""People that one process may create: more than any run can."""


def first_newcomer(options: PsOptions, slot: WorkerSlot) -> int:
    """Return the first person that a process may create, whichever its client is."""
    return options.entries + slot.index * NEWCOMERS


def engine_config(
    options: PsOptions,
    address: Address,
    scenarios: Sequence[Scenario],
    *,
    slot: WorkerSlot,
    trust: Trust = SYSTEM,
) -> str:
    """Return the configuration of one engine; slots differ in keys, newcomers and their share."""
    rate = slot.rate(options.rate)
    config: dict[str, Any] = {
        "threads": engine_threads(options.threads),
        "target": {
            "protocol": "http",
            "host": address.host,
            "port": address.port,
            "base_path": address.base_path,
            "keepalive": options.keepalive,
            "size": options.entries,
            "share": {"index": slot.index, "of": slot.count},
            "spread_sources": address.host.startswith("127."),
            "tls": trust.to_engine() if address.scheme == "https" else None,
        },
        "verify": options.verify,
        "timeout_ms": round(options.timeout * 1e3),
        "connect_timeout_ms": round(min(options.timeout, 5.0) * 1e3),
        "schedule": {"kind": "closed"} if rate is None else {"kind": "open", "rate": rate},
        "keys": {"choice": options.keys, "seed": options.seed + slot.index},
        "adds": {"start": first_newcomer(options, slot), "keys": NEWCOMERS},
        "programs": [scenario.to_program(options.think) for scenario in scenarios],
    }
    return json.dumps(config)
