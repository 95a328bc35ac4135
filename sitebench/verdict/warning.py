"""A typed warning about a measurement, with its remedy (as in hyperfine's warnings.rs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class DoubtKind(StrEnum):
    """The kinds of warnings; run files and `--json` hold these words."""

    GENERATOR_NEAR_CEILING = "generator-near-ceiling"
    GENERATOR_STARVED = "generator-starved"
    NOISY_MACHINE = "noisy-machine"
    SHARED_CORES = "shared-cores"
    TOO_SHORT = "too-short"
    TOO_FEW_SAMPLES = "too-few-samples"
    UNSETTLED = "unsettled"
    LITTLES_LAW = "littles-law"
    SCHEDULE_LAG = "schedule-lag"
    TIMEOUTS = "timeouts"
    FAILURES = "failures"
    PORTS = "ports"
    STOLEN_TIME = "stolen-time"
    SWAP = "swap"
    MONITOR_GAPS = "monitor-gaps"
    UNWATCHED = "unwatched"
    TLS_UNVERIFIED = "tls-unverified"
    WORKER_LOST = "worker-lost"
    WORKERS_MISSING = "workers-missing"
    CLOCK_SKEW = "clock-skew"


@dataclass(frozen=True)
class Doubt:
    """A reason to distrust a figure, and what to do about it."""

    kind: str
    message: str
    remedy: str

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints and the run file keeps."""
        return {"kind": self.kind, "message": self.message, "remedy": self.remedy}

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Doubt:
        """Read what `to_json` wrote; a kind of a newer version stays a word."""
        return cls(found["kind"], found["message"], found["remedy"])
