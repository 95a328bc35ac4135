"""Leaves of the error tree that only directories have."""

from __future__ import annotations

from sitebench.errors import BadInput


class WrongBase(BadInput):
    """The base DN is not in the target."""


class BadSequence(BadInput):
    """A sequence that no lane could run."""
