"""Name pools: what people are made of, harvested from Faker once per locale and kept in a file.

Faker needs hundreds of microseconds for a person; the engine combines people from these pools in
a fifth of one. The file's bytes are the pools' identity (their SHA-256 is in every manifest), so
harvesting again with the same Faker gives the same file, to the byte: every field is drawn from a
generator seeded for it alone, without weights, and values keep the order they were first drawn in.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sitebench.errors import BadInput
from sitebench.suite_base.options import DEFAULT_LOCALES
from sitebench.system.files import atomic_write

if TYPE_CHECKING:
    from faker import Faker

_HEADER = "sitebench-pools 1"
# Raise it when fields, limits or rules below change: files of an older recipe are left alone.
_RECIPE = 2
# What people have when a provider's values suit no attribute: user names and telephone numbers
# are ASCII by their syntax.
_FALLBACK_LOCALE = "en_US"


@dataclass(frozen=True, slots=True)
class _Field:
    """One pool: where its values come from, how many are wanted, and which suit."""

    name: str
    provider: str
    wanted: int
    max_bytes: int
    suits: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class PoolsFile:
    """A pools file, and what identifies it."""

    path: Path
    digest: str
    faker_version: str
    locales: tuple[str, ...]


def pools(locales: Sequence[str] = DEFAULT_LOCALES, *, cache: Path | None = None) -> PoolsFile:
    """Return the pools of `locales`, harvested now if they never were.

    The file lies in the user's cache folder (XDG base directories) unless `cache` is another.
    """
    _check_locales(locales)
    faker_version = version("faker")
    path = (cache or cache_folder()) / _file_name(locales, faker_version)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = harvest(locales).encode()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Another process may be reading, or harvesting too.
            with atomic_write(path) as fresh:
                fresh.write_bytes(content)
        except OSError as error:
            raise _no_cache(path, error) from error
    except OSError as error:
        raise _no_cache(path, error) from error
    digest = hashlib.sha256(content).hexdigest()
    return PoolsFile(path, digest, faker_version, tuple(locales))


def harvest(locales: Sequence[str]) -> str:
    lines = [_HEADER, f"faker {version('faker')}"]
    for locale in locales:
        lines += [f"[{locale} country]", _country(locale)]
        for field in FIELDS:
            found = _values(locale, field) or _values(_FALLBACK_LOCALE, field)
            lines += [f"[{locale} {field.name}]", *found]
    return "\n".join(lines) + "\n"


def _values(locale: str, field: _Field) -> list[str]:
    """Draw suitable values until there are enough, or the provider seems to have no more."""
    fake = _faker_for(locale)
    fake.seed_instance(f"{_HEADER} {field.name}")
    draw = getattr(fake, field.provider)
    found: dict[str, None] = {}
    # A provider of n values shows 99.97 % of them within 8 n draws; more would cost time only.
    for _ in range(8 * field.wanted):
        value = unicodedata.normalize("NFC", draw())
        if len(value.encode()) <= field.max_bytes and _is_clean(value) and field.suits(value):
            found[value] = None
            if len(found) == field.wanted:
                break
    return list(found)


def _faker_for(locale: str) -> Faker:
    """Return a generator of its own for `locale`; unweighted, which is 10 to 40 times faster."""
    from faker import Faker

    try:
        return Faker(locale, use_weighting=False)
    except AttributeError as error:
        message = f"--locales: Faker has no locale {locale!r}"
        raise BadInput(message, f"choose from its list, for example {_EXAMPLES}") from error


_EXAMPLES = ", ".join(DEFAULT_LOCALES)


def _check_locales(locales: Sequence[str]) -> None:
    """Refuse what cannot be harvested before anything is."""
    if not locales:
        raise BadInput(
            "--locales: none to take names from", f"name at least one, for example {_EXAMPLES}"
        )
    for locale in locales:
        if locales.count(locale) > 1:
            raise BadInput(f"--locales: {locale} is listed twice", "name each locale once")
        _country(locale)


def _country(locale: str) -> str:
    """Return the country a locale names, as ISO 3166 has it."""
    _, _, code = locale.partition("_")
    if len(code) == 2 and code.isascii() and code.isalpha() and code.isupper():
        return code
    remedy = f"write it like language_COUNTRY, for example {_EXAMPLES}"
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
    _Field("given", "first_name", 400, 40, _is_name),
    _Field("family", "last_name", 400, 40, _is_name),
    _Field("user", "user_name", 400, 32, _is_user),
    _Field("city", "city", 300, 48, _is_any),
    _Field("company", "company", 300, 64, _is_any),
    _Field("job", "job", 300, 64, _is_any),
    _Field("phone", "phone_number", 400, 24, _is_phone),
    _Field("text", "sentence", 96, 160, _is_any),
)


def cache_folder() -> Path:
    """Return the folder for what can be made again (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path in the variable is invalid and to be ignored, says the specification.
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "sitebench"


def _file_name(locales: Sequence[str], faker_version: str) -> str:
    """Return a name that changes whenever the content would."""
    key = hashlib.sha256(" ".join(locales).encode()).hexdigest()[:12]
    return f"pools-{_RECIPE}-faker-{faker_version}-{key}.txt"


def _no_cache(path: Path, error: OSError) -> BadInput:
    """Return the error of a cache folder that is of no use."""
    message = f"cannot keep the name pools in {path}: {error.strerror}"
    return BadInput(message, "set XDG_CACHE_HOME to a writable folder")
