"""The engine's configuration for a test of a personalized site."""

from __future__ import annotations

from collections.abc import Sequence

from ps_bench.options import PsOptions
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.scenario.script import Script
from sitebench.targets import engine_config as shared
from sitebench.targets.tls import SYSTEM, Trust

_NEWCOMERS = 1_000_000_000
"""Upper bound of the people that one process creates."""


def engine_config(
    options: PsOptions,
    address: SiteAddress,
    scenarios: Sequence[Script],
    *,
    slot: WorkerSlot,
    trust: Trust = SYSTEM,
) -> str:
    return shared.engine_config(
        options,
        address,
        slot,
        target={
            "protocol": "http",
            "base_path": address.base_path,
            "size": options.entries,
            "tls": trust.to_engine() if address.is_encrypted else None,
        },
        adds={"start": options.entries + slot.index * _NEWCOMERS, "keys": _NEWCOMERS},
        scenarios=[scenario.spec(slot) for scenario in scenarios],
    )
