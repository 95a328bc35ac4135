"""Which build of sitebench a process runs: whether a master and a worker measure the same.

A version is the same at every commit. The digest is of all by which counts could be misunderstood.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import asdict

from sitebench import _engine
from sitebench.counts import metrics
from sitebench.errors import OtherBuild
from sitebench.locust.workers import messages
from sitebench.measure.test import Test
from sitebench.runs import schema
from sitebench.system.version import version


class Build(msgspec.Struct, frozen=True):
    """What a worker's first message says, and a master's prepared test."""

    version: str = "?"
    schema: int = 0
    digest: str = "?"
    """Of the names, units and order of what is measured, and of the fields of every message."""

    def __str__(self) -> str:
        return f"sitebench {self.version} (build {self.digest})"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def this_build() -> Build:
    measured = [[(str(clock), clock.unit) for clock in metrics.CLOCKS]]
    measured += [[(str(counter), counter.unit) for counter in metrics.COUNTERS]]
    recorded = [row[:3] for row in _engine.metrics()]
    sent = [(kind.__name__, kind.TYPE, kind.__struct_fields__) for kind in messages.ALL]
    test = [field.name for field in fields(Test)]
    text = json.dumps([measured, recorded, sent, test])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Build(version(), schema.VERSION, digest)


def refuse_other(who: str, facts: Mapping[str, Any]) -> None:
    build_facts = {name: facts[name] for name in Build.__struct_fields__ if name in facts}
    if (other_build := Build(**build_facts)) != (own_build := this_build()):
        raise OtherBuild(
            f"{who} runs {other_build}, this is {own_build}: they measure or send different things",
            "install the same sitebench on the master's machine and on the workers'",
        )
