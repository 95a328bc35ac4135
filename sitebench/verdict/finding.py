"""Rows and grades of the paper's Tables 10, 11, 15 and 16, whose "Yes" is Primary here."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Resource(StrEnum):
    """Resources in the papers' order."""

    CPU = "cpu"
    NETWORK = "network"
    MEMORY = "memory"
    OPERATING_SYSTEM = "operating-system"
    SOFTWARE = "software"
    DISK = "disk"


class Grade(StrEnum):
    """How far a resource was the bottleneck."""

    PRIMARY = "primary"
    TAKEN = "taken"
    """Other programs used it, so that the target's own limit is not known."""
    POSSIBLE = "possible"
    NO = "no"
    UNKNOWN = "unknown"


class Finding(msgspec.Struct, frozen=True):
    """Whether one resource limited the target, and the evidence in a sentence."""

    resource: str
    grade: str
    evidence: str
