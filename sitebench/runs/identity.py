"""What identifies a point: two points that differ in one of these names are different points.

A name stands in run files and is a part of keys, and is never changed. The option beside it may be
renamed: its new name is written here, and no key changes.
"""

from __future__ import annotations

from sitebench.options.option import Options, fields_of

FIELDS = {
    "target": "target",
    "entries": "entries",
    "users": "users",
    "rate": "rate",
    "warmup_s": "warmup",
    "measure_s": "measure",
    "client": "client",
}
"""Fields of a `PointSpec`, and their options."""

SETTINGS = {
    # The load.
    "stages": "stages",
    "arrivals": "arrivals",
    "until": "until",
    "think": "think",
    "keys": "keys",
    "timeout": "timeout",
    "verify": "verify",
    "threads": "threads",
    "workers": "workers",
    # What users do.
    "scenario": "scenario",
    "path": "path",
    "filter": "filter",
    "mix": "mix",
    "attribute": "attribute",
    "session": "session",
    "ring": "ring",
    "how": "how",
    "over": "over",
    "accounts": "accounts",
    "wrong_passwords": "wrong_passwords",
    "wrong": "wrong",
    "files_per_class": "files_per_class",
    "addresses": "addresses",
    # The target.
    "target_host": "target_host",
    "target_threads": "target_threads",
    "target_limits": "target_limits",
    "tls": "tls",
    "tls_target": "tls_target",
    "tls_insecure": "tls_insecure",
    "tls_resume": "tls_resume",
    "start_tls": "start_tls",
    "base": "base",
    "bind_dn": "bind_dn",
    "sasl": "sasl",
    "keepalive": "keepalive",
    "durability": "durability",
    "row_cache": "row_cache",
    "database": "database",
    "access_log": "access_log",
    "docroot": "docroot",
    "programs": "programs",
    "directives": "directives",
    "cgi_program": "cgi_program",
    # The people in it.
    "seed": "seed",
    "locales": "locales",
    "profile": "profile",
    "names": "names",
    "hash": "hash",
    "hash_pool": "hash_pool",
    "one_password": "one_password",
    "groups": "groups",
    "members": "members",
    "depth": "depth",
    "in_all": "in_all",
}
"""Settings of a `PointSpec`, and their options. Beside them it has digests of the user's files."""

SCENARIO_DIGEST = "scenario_digest"
"""The setting of the SHA-256 of a scenario file, whose text the manifest has."""

_OF_ANOTHER = {"arrivals": "rate", "members": "groups", "depth": "groups", "in_all": "groups"}
"""Settings that say something of another option, and nothing where that is not set."""

OPTIONS = frozenset((*FIELDS.values(), *SETTINGS.values()))
"""Options in which points differ."""


def settings_of(options: Options) -> dict[str, str]:
    """Return the settings of options, without unset ones."""
    texts = {
        field.name: spec.text(value)
        for field, spec in fields_of(type(options))
        if (value := vars(options)[field.name]) is not None
    }
    return {
        name: texts[option]
        for name, option in SETTINGS.items()
        if option in texts and _OF_ANOTHER.get(name, option) in texts
    }
