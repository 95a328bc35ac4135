"""The options that identify a point: points that differ in one of them are different points.

A name is part of run files and of keys, and never changes. A renamed option keeps its old name as
`setting` (`options.option.Placement`), so that the keys stay the same.
"""

from __future__ import annotations

from sitebench.options.option import Options, fields_of

FIELDS = ("target", "entries", "users", "rate", "warmup", "measure", "client")

SETTINGS = (
    # The load.
    *("stages", "arrivals", "until", "think", "keys", "timeout", "verify", "threads", "workers"),
    # What users do.
    *("scenario", "path", "filter", "mix", "attribute", "session", "ring", "how", "over"),
    *("accounts", "wrong_passwords", "wrong", "files_per_class", "addresses"),
    # The target.
    *("target_host", "target_threads", "target_limits", "tls", "tls_target", "tls_insecure"),
    *("tls_resume", "start_tls", "base", "bind_dn", "sasl", "keepalive", "durability"),
    *("row_cache", "database", "access_log", "docroot", "programs", "directives", "cgi_program"),
    # The people in the target.
    *("seed", "locales", "profile", "names", "hash", "hash_pool", "one_password", "groups"),
    *("members", "depth", "in_all"),
)
"""Settings of a `PointSpec`, which also has digests of the user's files."""

SCENARIO_DIGEST = "scenario_digest"
"""The setting with the SHA-256 of a scenario file, whose text is in the manifest."""

_OF_ANOTHER = {"arrivals": "rate", "members": "groups", "depth": "groups", "in_all": "groups"}
"""Settings that qualify another option, and are left out if that option is unset."""

OPTIONS = frozenset((*FIELDS, *SETTINGS))
"""All options that identify a point."""


def settings_of(options: Options) -> dict[str, str]:
    """Return the settings of options, without unset ones."""
    texts = {
        spec.setting or field.name: spec.text(value)
        for field, spec in fields_of(type(options))
        if (value := vars(options)[field.name]) is not None
    }
    return {
        name: texts[name]
        for name in SETTINGS
        if name in texts and _OF_ANOTHER.get(name, name) in texts
    }
