"""The part of the engine's configuration that all suites have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sitebench.counts.fail_log import MOST
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.system.machine import engine_threads
from sitebench.targets.open_target import ServerAddress

_TRIED = 1_000
"""The most requests of an operation that `--check` shows."""


def engine_config(
    options: Any,
    address: ServerAddress,
    slot: WorkerSlot,
    *,
    target: Mapping[str, Any],
    adds: Mapping[str, int],
    scenarios: Sequence[Mapping[str, Any]],
) -> str:
    """Return the configuration of an engine; engines of workers differ by their `slot` and `adds`.

    `target` has the settings of the suite's protocol, `adds` the people that this engine may add.
    """
    schedule: dict[str, Any] = {"kind": "closed"}
    if (stages := options.stages) is not None:
        schedule = {"kind": "crowd", "span_ms": round(stages.span_s * 1e3)}
        if not stages.of_users:
            schedule |= {
                "kind": "staged",
                "stages": [
                    {"lasts_s": stage.lasts_s, "rate": slot.rate(stage.level)}
                    for stage in stages.stages
                ],
                "arrivals": options.arrivals,
            }
    elif options.rate is not None:
        rate = slot.rate(options.rate)
        schedule = {"kind": "open", "rate": rate, "arrivals": options.arrivals}
    config: dict[str, Any] = {
        "threads": engine_threads(options.threads),
        "target": {
            "host": address.host,
            "port": address.port,
            # Every loopback address has its own ephemeral ports.
            "spread_sources": address.host.startswith("127."),
            **target,
        },
        "verify": options.verify,
        "timeout_ms": round(options.timeout * 1e3),
        "schedule": schedule,
        "keys": {"choice": options.keys, "seed": options.seed, "engine": slot.index},
        "adds": dict(adds),
        "scenarios": list(scenarios),
        # Failed requests are logged; with --check, all requests.
        "log": {"most": _TRIED, "all": True}
        if options.check
        else {"most": MOST if options.fail_log else 0},
    }
    return json.dumps(config)
