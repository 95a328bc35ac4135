"""Name pools drawn from Faker: given names, cities, sentences and the rest.

Faker takes hundreds of microseconds for a person, the engine a fifth of one with pools. The same
Faker gives the same bytes: a field has a generator seeded for it alone, without weights, and values
stand in the order in which they were first drawn.

    python -m sitebench.seeders.harvest > sitebench/seeders/pools.txt

makes the pools of the default locales again, after a change of the fields or rules below. That
makes other people, so that no run can be compared with an earlier one.
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
"""Raise it when fields, limits or rules below change: files of an older recipe are left alone."""
FALLBACK_LOCALE = "en_US"
"""Its values replace those of a locale that suit no attribute: user names and telephone numbers are
ASCII by their syntax."""


@dataclass(frozen=True, slots=True)
class Field:
    """One pool: Faker's provider, the bounds of its values, and a test of each."""

    name: str
    provider: str
    most_values: int
    max_bytes: int
    suits: Callable[[str], bool]


def harvest(locales: Sequence[str]) -> str:
    """Return a pools file of locales, drawn from the installed Faker."""
    from importlib.metadata import version

    head = f"{HEADER}\nfaker {version('faker')}\n"
    return head + "".join(
        section(locale, lambda field: _values(FALLBACK_LOCALE, field)) for locale in locales
    )


def section(locale: str, fallback: Callable[[Field], Sequence[str]]) -> str:
    """Return the pools of one locale; `fallback` has the values where none of the locale suits."""
    lines = [f"[{locale} country]", country(locale)]
    for field in FIELDS:
        lines += [f"[{locale} {field.name}]", *(_values(locale, field) or fallback(field))]
    return "\n".join(lines) + "\n"


def _values(locale: str, field: Field) -> list[str]:
    """Draw suitable values until there are enough, or the provider seems exhausted."""
    fake = _faker_for(locale)
    fake.seed_instance(f"{HEADER} {field.name}")
    draw = getattr(fake, field.provider)
    values: dict[str, None] = {}
    # A provider of n values shows 99.97 % of them within 8 n draws; more would cost time only.
    for _ in range(8 * field.most_values):
        value = unicodedata.normalize("NFC", draw())
        if len(value.encode()) <= field.max_bytes and _is_clean(value) and field.suits(value):
            values[value] = None
            if len(values) == field.most_values:
                break
    return list(values)


def _faker_for(locale: str) -> Faker:
    """Return a generator of its own for `locale`; unweighted, which is 10 to 40 times faster."""
    from faker import Faker

    try:
        return Faker(locale, use_weighting=False)
    except AttributeError as error:
        message = f"--locales: Faker has no locale {locale!r}"
        raise BadInput(message, f"choose from its list, for example {EXAMPLES}") from error


EXAMPLES = ", ".join(DEFAULT_LOCALES)


def country(locale: str) -> str:
    """Return the ISO 3166 country code of a locale."""
    _, _, code = locale.partition("_")
    if len(code) == 2 and code.isascii() and code.isalpha() and code.isupper():
        return code
    remedy = f"write it like language_COUNTRY, for example {EXAMPLES}"
    raise BadInput(f"--locales: {locale!r} names no country", remedy)


def _is_clean(value: str) -> bool:
    """Whether `value` is a line of its own that no reader trims."""
    # Other, line separator, paragraph separator: control characters, soft hyphens, direction marks.
    unseen = any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in value)
    return bool(value) and value.strip() == value and not unseen and not value.startswith("[")


def _is_name(value: str) -> bool:
    """Whether `value` needs no escape in a DN (RFC 4514) or a filter (RFC 4515)."""
    return all(unicodedata.category(c)[0] in "LM" or c in " -'’.·" for c in value)


def _is_user(value: str) -> bool:
    """Whether `value` is part of an e-mail address as it is (RFC 5321, 4.1.2)."""
    words = value.split(".")
    return value.isascii() and all(
        word.replace("-", "").replace("_", "").isalnum() for word in words
    )


def _is_phone(value: str) -> bool:
    """Whether `value` is a telephone number as in E.123 (RFC 4517, 3.3.31); ApacheDS asks so."""
    return re.fullmatch(r"\+?(\([0-9 -]+\)|[0-9 -])+", value) is not None


def _is_any(_: str) -> bool:
    return True


# The limits keep a lookup's answer at its size: the text of an entry takes up what these leave.
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
