from __future__ import annotations

from enum import StrEnum

import msgspec


class WarningKind(StrEnum):
    """Kinds of warnings: the words in run files and `--json`."""

    ANSWERS_UNREAD = "answers-unread"
    GENERATOR_NEAR_CEILING = "generator-near-ceiling"
    GENERATOR_STARVED = "generator-starved"
    OTHERS_IN_LATENCY = "others-in-latency"
    NOISY_MACHINE = "noisy-machine"
    SHARED_CORES = "shared-cores"
    TOO_SHORT = "too-short"
    NOT_KNOWN = "not-known"
    DATA_USED_UP = "data-used-up"
    ROWS_HELD = "rows-held"
    ROWS_LOST = "rows-lost"
    TARGET_DIED = "target-died"
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
    PROXIED = "proxied"
    TLS_UNVERIFIED = "tls-unverified"
    WORKER_LOST = "worker-lost"
    WORKERS_MISSING = "workers-missing"
    CLOCK_SKEW = "clock-skew"
    GROWN_DIRECTORY = "grown-directory"
    ENTRIES_LEFT = "entries-left"
    LOGIN_WRITES = "login-writes"
    LOGIN_REHASHES = "login-rehashes"
    RELAXED_DURABILITY = "relaxed-durability"
    OTHER_FILES = "other-files"


class PointWarning(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reason to distrust a figure, and its remedy."""

    kind: str
    message: str
    remedy: str
    spoils: bool = False
    """Whether the warning makes the point invalid: its figure then measures something else."""
