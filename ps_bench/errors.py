"""Leaves of the error tree that only sites have."""

from __future__ import annotations

from sitebench.errors import BadFile, BadInput


class BadScenario(BadInput):
    """A scenario that no lane could run."""


class BadScenarioFile(BadFile):
    """A scenario file with an error, on which line and in which column."""
