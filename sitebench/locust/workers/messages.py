"""What a master and its workers send each other beside Locust's own messages: plain data.

    master                                   worker
      slots, in the prepared test   ------->
                                    <-------  OPENED   its facts; its lanes may begin
      PING                          ------->
                                    <-------  PONG     its clock
      DRAIN  number, phase          ------->           twice a second, and at each boundary
                                    <-------  REPORT   the same number, all counts since the last
      DRAIN  last                   ------->           its lanes end
                                    <-------  REPORT   last
                                    <-------  FAILED   the error it ended with

A worker that ends by itself (Ctrl-C) sends its last report unasked. Messages of one worker
arrive complete and in the order they were sent, or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sitebench._engine import Histogram
from sitebench.counts.source import Drain, Drained, StepRecord, StepTotals

OPENED, PING, PONG = "sitebench-opened", "sitebench-ping", "sitebench-pong"
DRAIN, REPORT, FAILED = "sitebench-drain", "sitebench-report", "sitebench-failed"
PREPARED = "sitebench_shared"
"""Name among the parsed options under which a master hands its workers the prepared test."""


_NUMBERS = (
    "t0_ns",
    "t1_ns",
    "lanes",
    "lane_ns",
    "waiting_ns",
    "underway_ns",
    "backlog",
    "in_flight",
    "owed",
)
_STEPS = ("steps", "late", "older")


def pack(drained: Drained, cpu_ns: Sequence[int]) -> dict[str, Any]:
    """Return a drain as plain data, with the CPU time of what made the load."""
    found: dict[str, Any] = {name: getattr(drained, name) for name in _NUMBERS}
    lists = {"cpu_ns": list(cpu_ns), "lane_counts": list(drained.lane_counts)}
    steps = {name: [_pack_step(each) for each in getattr(drained, name)] for name in _STEPS}
    return found | lists | steps


def _pack_step(step: StepRecord) -> list[Any]:
    # In a closed schedule both are one object, and travel once.
    latency = None if step.latency is step.service else step.latency.to_bytes()
    in_vain = None if step.in_vain is step.censored else step.in_vain.to_bytes()
    others = (step.lag, step.censored, step.unread, step.wrong)
    return [
        step.program,
        step.step,
        step.count,
        dict(step.failures),
        dict(step.examples),
        step.bytes_out,
        step.bytes_in,
        step.processing_ns,
        step.failed_ns,
        step.overlaps,
        step.service.to_bytes(),
        latency,
        *(each.to_bytes() if each.count else None for each in others),
        in_vain,
    ]


def unpack(found: Mapping[str, Any]) -> Drain:
    """Return what `pack` was given."""
    steps = {name: tuple(map(_unpack_step, found[name])) for name in _STEPS}
    return Drain(**{**found, "cpu_ns": tuple(found["cpu_ns"]), **steps})


def _unpack_step(found: Sequence[Any]) -> StepTotals:
    program, step, count, failures, examples, bytes_out, bytes_in, *rest = found
    processing_ns, failed_ns, overlaps, *clocks = rest
    service, latency, lag, censored, unread, wrong, in_vain = (
        None if each is None else Histogram.from_bytes(each) for each in clocks
    )
    assert service is not None
    censored = censored or Histogram()
    return StepTotals(
        program,
        step,
        count,
        Counter(failures),
        bytes_out,
        bytes_in,
        service,
        latency or service,
        lag or Histogram(),
        censored,
        unread or Histogram(),
        wrong or Histogram(),
        in_vain or censored,
        processing_ns,
        failed_ns,
        overlaps,
        examples,
    )
