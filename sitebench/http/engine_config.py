"""What the engine reads of a test of a web site, and which people its processes may create."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.counts.worker_slot import WorkerSlot
from sitebench.http.address import SiteAddress
from sitebench.http.options import SiteTestOptions
from sitebench.scenario.script import Script
from sitebench.targets import engine_config as shared
from sitebench.targets.tls import SYSTEM, Trust

_NEWCOMERS = 1_000_000_000
"""People that one process may create: more than any run can."""


def people_at(options: SiteTestOptions) -> int:
    """Return how many people the site knows; one without people has one anonymous visitor."""
    return options.people or 1


def first_newcomer(options: SiteTestOptions, slot: WorkerSlot) -> int:
    """Return the first person that a process may create, whichever its client is."""
    return people_at(options) + slot.index * _NEWCOMERS


def engine_config(
    options: SiteTestOptions,
    address: SiteAddress,
    scenarios: Sequence[Script],
    *,
    slot: WorkerSlot,
    trust: Trust = SYSTEM,
) -> str:
    """Return the configuration of one engine."""
    return shared.engine_config(
        options,
        address,
        slot,
        target={
            "protocol": "http",
            "base_path": address.base_path,
            "size": people_at(options),
            "tls": trust.to_engine() if address.is_encrypted else None,
        },
        adds={"start": first_newcomer(options, slot), "keys": _NEWCOMERS},
        scenarios=[scenario.spec(slot) for scenario in scenarios],
    )
