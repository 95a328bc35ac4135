"""Refuses a posted form with faults, before anything starts."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from typing import Any

from sitebench.errors import SitebenchError
from sitebench.options.convert import from_namespace
from sitebench.options.option import fields_of
from sitebench.scenario.script import entrusts
from sitebench.system import secret

_LOCUSTS_OWN = frozenset(
    {"user_count", "spawn_rate", "host", "run_time", "user_classes", "shape_class", "profile"}
)


_ENTRUSTED = ("password_file", "tls_key", "i_own_this_target")
_PIN = frozenset(
    {
        *("target", "addresses", "tls_target", "bind_dn", "sasl", "start_tls"),
        *("tls", "tls_ca", "tls_insecure", "tls_cert"),
    }
)
"""Options that decide where and how a password, a key or a token is sent."""


def find_unreadable(cls: type[Any], posted: Mapping[str, str]) -> str | None:
    for field, spec in fields_of(cls):
        text = posted.get(field.name)
        if not text or spec.hidden or spec.is_flag:
            continue
        try:
            spec.parse(text)
        except SitebenchError as error:
            return f"{label(field.name)}: {error}"
    return None


def find_withheld(
    shown: Collection[str], posted: Mapping[str, str], parsed: argparse.Namespace
) -> str | None:
    """Return an error if a posted field is not in the form: Locust itself accepts any option."""
    files = {name: value for name, value in posted.items() if value.startswith("@")}
    for name, value in files.items():
        if value != getattr(parsed, name, None):
            return f"{label(name)}: the page cannot name a file; name it when you start Locust"
    names = vars(parsed).keys() - _LOCUSTS_OWN - set(shown)
    first = next((name for name in posted if name in names), None)
    return first and f"{label(first)} cannot be set by the page: give it when Locust is started"


def find_unchangeable(
    cls: type[Any], posted: Mapping[str, str], parsed: argparse.Namespace
) -> str | None:
    earlier, now = from_namespace(cls, parsed), options(cls, posted, parsed)
    for field, _ in fields_of(cls):
        if getattr(earlier, field.name) != getattr(now, field.name):
            return (
                f"{label(field.name)} cannot change while a test runs; "
                "stop it and start a new one, or change the number of users alone"
            )
    return None


def pinned_fields(cls: type[Any], start: Any) -> dict[str, Any]:
    """Return the options that the page must not change: passwords or permissions depend on them.

    If Locust is started without passwords and permissions, the page may change every option.
    """
    sends_secret = any(getattr(start, name, None) for name in _ENTRUSTED)
    variables = hasattr(start, "bind_dn") and os.environ.get(secret.BIND_PASSWORD)
    scenario = getattr(start, "scenario", None)
    if not (sends_secret or variables or (scenario is not None and entrusts(scenario))):
        return {}
    return {f.name: getattr(start, f.name) for f, _ in fields_of(cls) if f.name in _PIN}


def changed_pinned_field(
    pinned: Mapping[str, Any], cls: type[Any], posted: Mapping[str, str], parsed: argparse.Namespace
) -> str | None:
    now = options(cls, posted, parsed)
    changed = next((name for name, value in pinned.items() if getattr(now, name) != value), None)
    return changed and (
        f"{label(changed)} cannot be changed on this page, as Locust was started with a password, "
        "a token or a permission: start Locust again"
    )


def options(cls: type[Any], posted: Mapping[str, str], parsed: argparse.Namespace) -> Any:
    return from_namespace(cls, argparse.Namespace(**{**vars(parsed), **posted}))


_ABBREVIATIONS = {"tls": "TLS", "ca": "CA", "dn": "DN", "sasl": "SASL", "cgi": "CGI"}


def label(name: str) -> str:
    """Return an option's name as the form shows it: `bind_dn` as Bind DN."""
    words = " ".join(_ABBREVIATIONS.get(word, word) for word in name.split("_"))
    return words[:1].upper() + words[1:]
