"""Rows and grades of the paper's Tables 10, 11, 15 and 16, whose "Yes" is Primary here."""

from __future__ import annotations

from collections.abc import Iterable
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
    """How far a resource was the bottleneck, worst first."""

    PRIMARY = "primary"
    TAKEN = "taken"
    """Other programs used the resource: the target's own limit is not known."""
    POSSIBLE = "possible"
    NO = "no"
    UNKNOWN = "unknown"


def grade(share: float, possible: float, primary: float) -> Grade:
    """Return the grade of a share by two thresholds."""
    return Grade.PRIMARY if share >= primary else Grade.POSSIBLE if share >= possible else Grade.NO


def worst_of(grades: Iterable[Grade]) -> Grade:
    return min(grades, key=list(Grade).index)


class Finding(msgspec.Struct, frozen=True):
    resource: str
    grade: str
    evidence: str
