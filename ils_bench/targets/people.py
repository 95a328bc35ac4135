from __future__ import annotations

import re
import shlex
from typing import cast

from ils_bench.options import KindOptions, LoadTestOptions, SeedOptions
from sitebench.options.option import fields_of
from sitebench.options.spelling import long_option
from sitebench.seeders import Profile
from sitebench.seeders.people import Spec

_PART = re.compile(r'(?:\\.|"(?:\\.|[^"\\])*"|[^\\",;])+', re.DOTALL)
"""A part of a DN: escaped characters and quoted texts do not end it (RFC 4514, RFC 2253)."""


_WHO = ("profile", "hash", "seed", "locales")
"""Options that, with the number of people, determine the people."""


def spec_of(options: LoadTestOptions | SeedOptions, size: int) -> Spec:
    profile, password = cast("Profile", options.profile), options.one_password
    people = (size, options.seed, profile, options.locales, options.base)
    return Spec(*people, options.hash, password, options.hash_pool)


def which_people(options: KindOptions) -> str:
    """Return the options of a command for the same people, without their number."""
    words = ""
    for field, spec in fields_of(type(options)):
        value = vars(options)[field.name]
        if field.name in _WHO and (value != field.default or options.is_set(field.name)):
            words += f" {long_option(field.name)} {shlex.quote(spec.show(value))}"
    return words


def suffix_of(base: str) -> str:
    """Return the suffix of a base: all its dc parts (no server holds dc=com), or its last part."""
    parts = [part.strip() for part in _PART.findall(base)]
    tail = len(parts) - 1
    while tail > 0 and all(part.lower().startswith("dc=") for part in parts[tail - 1 :]):
        tail -= 1
    return ",".join(parts[tail:])
