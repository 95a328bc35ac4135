"""Refuses a posted form that cannot be run, before anything starts."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from sitebench.errors import SitebenchError
from sitebench.options.convert import from_namespace
from sitebench.options.option import fields_of

_LOCUSTS_OWN = frozenset(
    {"user_count", "spawn_rate", "host", "run_time", "user_classes", "shape_class", "profile"}
)
"""Fields of Locust's own form."""


def unreadable(cls: type[Any], posted: Mapping[str, str]) -> str | None:
    """Return the message about a value that cannot be read."""
    for each, spec in fields_of(cls):
        text = posted.get(each.name)
        if not text or spec.hidden or isinstance(each.default, bool):
            continue
        try:
            spec.parse(text)
        except SitebenchError as error:
            return f"{_label(each.name)}: {error}"
    return None


def withheld(
    shown: Collection[str], posted: Mapping[str, str], parsed: argparse.Namespace
) -> str | None:
    """Return the message about a field that the form does not have.

    Locust would take any of its options: files with secrets, and where results go, are named by
    the person who starts it.
    """
    known = vars(parsed).keys() - _LOCUSTS_OWN - set(shown)
    found = next((name for name in posted if name in known), None)
    return found and f"{_label(found)} cannot be set by the page: give it when Locust is started"


def unchangeable(
    cls: type[Any], posted: Mapping[str, str], parsed: argparse.Namespace
) -> str | None:
    """Return the message about a change to a running test other than of its users."""
    before, now = from_namespace(cls, parsed), options(cls, posted, parsed)
    for each, _ in fields_of(cls):
        if getattr(before, each.name) != getattr(now, each.name):
            return (
                f"{_label(each.name)} cannot change while a test runs; "
                "stop it and start a new one, or change the number of users alone"
            )
    return None


def options(cls: type[Any], posted: Mapping[str, str], parsed: argparse.Namespace) -> Any:
    """Return the options of a form."""
    return from_namespace(cls, argparse.Namespace(**{**vars(parsed), **posted}))


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()
