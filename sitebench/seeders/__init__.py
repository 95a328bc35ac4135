"""People of targets: name pools, populations, LDIF.

Entry `i` of a population is a pure function of (seed, i); see `native/shared/people`.
"""

from typing import Literal, get_args

DEFAULT_BASE = "ou=Dynamic,o=Intranet"

DEFAULT_LOCALES = ("en_US", "de_DE", "fr_FR", "es_ES", "ru_RU", "el_GR", "ja_JP")
"""Locales whose names are Latin (with and without diacritics), Cyrillic, Greek and Japanese."""

Profile = Literal["paper", "small", "ils", "person", "posix", "ad"]
"""A set of attributes of people."""
PROFILES: tuple[Profile, ...] = get_args(Profile)

HASHES = ("ssha", "ssha512", "clear", "crypt", "pbkdf2-sha256", "pbkdf2-sha512", "argon2")
"""Hashes of passwords, the default first. `crypt` and the hashes after it are slow and take
parameters (`native/shared/hashes`)."""

DEFAULT_POOL = 1_000
"""The default number of slow hashes that people share."""
