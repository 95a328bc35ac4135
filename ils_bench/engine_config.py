"""What the engine is told: target, schedule, keys, additions and programs, as one JSON text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence as Many
from typing import Any

from ils_bench.options import IlsOptions
from ils_bench.sequences import Bind, Repeat, Search, Sequence, Step
from ils_bench.targets.address import Address
from ils_bench.targets.identity import ANONYMOUS, Identity
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.system.machine import engine_threads
from sitebench.targets.tls import SYSTEM, Trust


def engine_config(
    options: IlsOptions,
    address: Address,
    sequences: Many[Sequence],
    *,
    slot: WorkerSlot,
    first_added: int,
    who: Identity = ANONYMOUS,
    trust: Trust = SYSTEM,
) -> str:
    """Return the configuration of one engine; slots differ in keys, additions and their share."""
    names = None
    if options.names is not None:
        names = {"template": options.names, "count": options.entries}
    rate = slot.rate(options.rate)
    config: dict[str, Any] = {
        "threads": engine_threads(options.threads),
        "target": {
            "host": address.host,
            "port": address.port,
            "base": options.base,
            "profile": options.profile,
            "spread_sources": address.host.startswith("127."),
            "names": names,
            "tls": address.engine_tls(trust),
        },
        "verify": options.verify,
        "timeout_ms": round(options.timeout * 1e3),
        "connect_timeout_ms": round(min(options.timeout, 5.0) * 1e3),
        "schedule": {"kind": "closed"} if rate is None else {"kind": "open", "rate": rate},
        "keys": {"choice": options.keys, "seed": options.seed + slot.index},
        "adds": {"start": first_added, "keys": options.ring},
        "programs": [placed(sequence, options.base, who).to_program() for sequence in sequences],
    }
    return json.dumps(config)


def placed(sequence: Sequence, base: str, who: Identity = ANONYMOUS) -> Sequence:
    """Return the sequence at a target: what it leaves open is filled in, and nothing else.

    Searches without a base go to the target's, anonymous binds become this one's.
    """

    def place(step: Step) -> Step:
        if isinstance(step, Repeat):
            return dataclasses.replace(step, steps=tuple(map(place, step.steps)))
        if isinstance(step, Bind) and who != ANONYMOUS and not (step.dn or step.sasl):
            # LDAP's version 2 knows no SASL.
            return dataclasses.replace(
                step,
                version=step.version if who.sasl is None else 3,
                dn=who.dn or "",
                password=who.password or "",
                sasl=who.sasl,
            )
        if isinstance(step, Search) and not step.base:
            return dataclasses.replace(step, base=base)
        return step

    return dataclasses.replace(sequence, steps=tuple(map(place, sequence.steps)))
