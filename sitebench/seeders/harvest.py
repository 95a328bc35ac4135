"""Pools of given names, cities, sentences and other values, drawn from Faker.

    python -m sitebench.seeders.harvest > sitebench/seeders/pools.txt

makes the pools of the default locales again, after a change of the fields or rules below. The same
version of Faker gives the same bytes. New pools make different people, so that no run can be
compared with an earlier run.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_LOCALES

if TYPE_CHECKING:
    from faker import Faker

HEADER = "sitebench-pools 1"
RECIPE = 2
"""Version of the fields, limits and rules below; raise it after a change, to renew cached files."""
FALLBACK_LOCALE = "en_US"
"""Source of user names and telephone numbers for locales in which none is ASCII."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of people: Faker's provider, the bounds of its values, and a test of a value."""

    name: str
    provider: str
    most_values: int
    max_bytes: int
    suits: Callable[[str], bool]


def harvest(locales: Sequence[str]) -> str:
    from importlib.metadata import version

    head = f"{HEADER}\nfaker {version('faker')}\n"
    return head + "".join(
        section(locale, lambda field: _values(FALLBACK_LOCALE, field)) for locale in locales
    )


def section(locale: str, fallback: Callable[[Field], Sequence[str]]) -> str:
    """Return the pools of a locale; `fallback` gives values if no value of the locale suits."""
    lines = [f"[{locale} country]", country(locale)]
    for field in FIELDS:
        lines += [f"[{locale} {field.name}]", *(_values(locale, field) or fallback(field))]
    return "\n".join(lines) + "\n"


def _values(locale: str, field: Field) -> list[str]:
    """Draw suitable values, until they are enough or the provider seems exhausted."""
    fake = _faker_for(locale)
    fake.seed_instance(f"{HEADER} {field.name}")
    draw = getattr(fake, field.provider)
    values: dict[str, None] = {}
    # A provider of n values shows 99.97 % of them within 8 n draws.
    for _ in range(8 * field.most_values):
        value = unicodedata.normalize("NFC", draw())
        if len(value.encode()) <= field.max_bytes and _is_clean(value) and field.suits(value):
            values[value] = None
            if len(values) == field.most_values:
                break
    return list(values)


def _faker_for(locale: str) -> Faker:
    """Return a new generator without weights, which is 10 to 40 times faster."""
    from faker import Faker

    try:
        return Faker(locale, use_weighting=False)
    except AttributeError as error:
        message = f"--locales: Faker has no locale {locale!r}"
        raise BadInput(message, f"choose from its list, for example {EXAMPLES}") from error


EXAMPLES = ", ".join(DEFAULT_LOCALES)


def country(locale: str) -> str:
    _, _, code = locale.partition("_")
    if len(code) == 2 and code.isascii() and code.isalpha() and code.isupper():
        return code
    remedy = f"write it like language_COUNTRY, for example {EXAMPLES}"
    raise BadInput(f"--locales: {locale!r} names no country", remedy)


def _is_clean(value: str) -> bool:
    """Whether `value` is a line that no reader trims or reads as a heading."""
    # Category C has control characters, soft hyphens and direction marks.
    unseen = any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in value)
    return bool(value) and value.strip() == value and not unseen and not value.startswith("[")


def _is_name(value: str) -> bool:
    """Whether `value` needs no escape in a DN (RFC 4514) or a filter (RFC 4515)."""
    return all(unicodedata.category(c)[0] in "LM" or c in " -'’.·" for c in value)


def _is_user(value: str) -> bool:
    """Whether `value` needs no quotes in an e-mail address (RFC 5321, 4.1.2)."""
    words = value.split(".")
    return value.isascii() and all(
        word.replace("-", "").replace("_", "").isalnum() for word in words
    )


def _is_phone(value: str) -> bool:
    """Whether `value` is a telephone number by E.123 (RFC 4517, 3.3.31), as ApacheDS checks."""
    return re.fullmatch(r"\+?(\([0-9 -]+\)|[0-9 -])+", value) is not None


def _is_any(_: str) -> bool:
    return True


# The lengths of these values do not matter: a filler text gives each entry its size.
FIELDS = (
    Field("given", "first_name", 400, 40, _is_name),
    Field("family", "last_name", 400, 40, _is_name),
    Field("user", "user_name", 400, 32, _is_user),
    Field("city", "city", 300, 48, _is_any),
    Field("company", "company", 300, 64, _is_any),
    Field("job", "job", 300, 64, _is_any),
    Field("phone", "phone_number", 400, 24, _is_phone),
    Field("text", "sentence", 96, 160, _is_any),
)


if __name__ == "__main__":
    sys.stdout.buffer.write(harvest(DEFAULT_LOCALES).encode())
