"""Drains on their way to another process: plain data, nothing rounded away.

Histograms travel as HdrHistogram V2, which keeps every bucket, so that a sum of what workers send
is the sum of what they recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sitebench._engine import Histogram
from sitebench.portable import Records
from sitebench.source import Drained
from sitebench.tally import StepTotals

_CLOCKS = ("service", "latency", "lag", "censored")
_COUNTS = ("program", "step", "count", "bytes_out", "bytes_in", "processing_ns")
_WINDOW = ("t0_ns", "t1_ns", "lanes", "lane_ns", "waiting_ns", "underway_ns")


def pack(drained: Drained) -> dict[str, Any]:
    """Return a drain as numbers, texts, bytes, lists and dicts."""
    window = {name: getattr(drained, name) for name in _WINDOW}
    steps = [
        {name: getattr(step, name) for name in _COUNTS}
        | {"failures": dict(step.failures)}
        | {name: getattr(step, name).to_bytes() for name in _CLOCKS}
        for step in drained.steps
    ]
    return {**window, "cpu_ns": list(drained.cpu_ns), "steps": steps}


def unpack(found: Mapping[str, Any]) -> Drained:
    """Read what `pack` wrote."""
    steps = tuple(_step(step) for step in found["steps"])
    return Records(**{**found, "cpu_ns": tuple(found["cpu_ns"]), "steps": steps})


def _step(found: Mapping[str, Any]) -> StepTotals:
    clocks = {name: Histogram.from_bytes(found[name]) for name in _CLOCKS}
    return StepTotals(**{**found, "failures": Counter(found["failures"]), **clocks})
