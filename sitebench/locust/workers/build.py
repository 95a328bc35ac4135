"""The build of sitebench that a process runs: master and worker must measure the same.

Many commits have the same version. So there is also a digest of everything that must be equal, or
one build would misread the counts of the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any

import msgspec

from sitebench import _engine
from sitebench.counts import metrics
from sitebench.counts.source import Drain, StepTotals
from sitebench.errors import OtherBuild
from sitebench.locust.workers import messages
from sitebench.measure.test import Test
from sitebench.runs import schema
from sitebench.system.version import version


class Build(msgspec.Struct, frozen=True):
    """The build of a process, in a worker's first message or in a master's prepared test."""

    version: str = "?"
    schema: int = 0
    digest: str = "?"
    """A digest of the names, units and order of what is measured, and of the fields of messages."""

    def __str__(self) -> str:
        return f"sitebench {self.version} (build {self.digest})"


@cache
def this_build() -> Build:
    measured = [[(str(clock), clock.unit) for clock in metrics.CLOCKS]]
    measured += [[(str(counter), counter.unit) for counter in metrics.COUNTERS]]
    recorded = [row[:3] for row in _engine.metrics()]
    sent = [(kind.__name__, kind.TYPE, kind.__struct_fields__) for kind in messages.ALL]
    sent += [(kind.__name__, "", kind.__struct_fields__) for kind in (Drain, StepTotals)]
    test = [field.name for field in fields(Test)]
    text = json.dumps([measured, recorded, sent, test])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Build(version(), schema.VERSION, digest)


def refuse_other(who: str, facts: Mapping[str, Any]) -> None:
    build_facts = {name: facts[name] for name in Build.__struct_fields__ if name in facts}
    if (other_build := Build(**build_facts)) != (own_build := this_build()):
        raise OtherBuild(
            f"{who} runs {other_build}, this is {own_build}: these builds measure or send "
            "differently",
            "install the same sitebench on the master's machine and on the workers'",
        )
