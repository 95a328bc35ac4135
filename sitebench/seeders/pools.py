"""Name pools, as files for the engine.

The SHA-256 of a pools file is in every manifest, and runs are compared only where it is equal. So
that people do not change with each release of Faker, the pools of the default locales were drawn
once (by `harvest`); Faker draws other locales only. Line 2 of every pools file names the Faker of
the default locales: equal names have equal digests.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.seeders import DEFAULT_LOCALES
from sitebench.seeders.harvest import EXAMPLES, FALLBACK_LOCALE, RECIPE, Field, country, section
from sitebench.system.files import atomic_write

_SHIPPED = Path(__file__).with_name("pools.txt")
"""The pools of the default locales."""


@dataclass(frozen=True, slots=True)
class PoolsFile:
    """A pools file, and what identifies it."""

    path: Path
    digest: str


def pools(locales: Sequence[str] = DEFAULT_LOCALES, *, cache: Path | None = None) -> PoolsFile:
    """Return the pools of `locales`; any but the default ones are kept in a cache folder."""
    _check_locales(locales)
    if tuple(locales) == DEFAULT_LOCALES:
        return PoolsFile(_SHIPPED, hashlib.sha256(_SHIPPED.read_bytes()).hexdigest())
    path = (cache or cache_folder()) / _file_name(locales)
    if not (content := read_cached("name pools", path)):
        content = _put_together(locales).encode()
        cache_content("name pools", path, content)
    return PoolsFile(path, hashlib.sha256(content).hexdigest())


def _put_together(locales: Sequence[str]) -> str:
    """Return the pools of `locales`: shipped ones, and those that Faker draws."""
    head, shipped = _read_shipped()

    def fallback(field: Field) -> Sequence[str]:
        _, _, following = shipped[FALLBACK_LOCALE].partition(f"[{FALLBACK_LOCALE} {field.name}]\n")
        values, _, _ = following.partition("\n[")
        return values.splitlines()

    return head + "".join(shipped.get(locale) or section(locale, fallback) for locale in locales)


@functools.cache
def _read_shipped() -> tuple[str, Mapping[str, str]]:
    """Return the first two lines of a pools file, and the shipped pools of each locale."""
    text = _SHIPPED.read_text(encoding="utf-8")
    head, *parts = re.split(r"^(?=\[\S+ country\])", text, flags=re.MULTILINE)
    return head, dict(zip(DEFAULT_LOCALES, parts, strict=True))


def _check_locales(locales: Sequence[str]) -> None:
    """Refuse locales that cannot be harvested, before any is."""
    if not locales:
        raise BadInput(
            "--locales: none to take names from", f"name at least one, for example {EXAMPLES}"
        )
    for locale in locales:
        if locales.count(locale) > 1:
            raise BadInput(f"--locales: {locale} is listed twice", "name each locale once")
        country(locale)


def cache_folder() -> Path:
    """Return the cache folder (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path in the variable is invalid and to be ignored, says the specification.
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "sitebench"


def _file_name(locales: Sequence[str]) -> str:
    """Return a name that changes whenever the content would."""
    drawn = ""
    if not set(locales) <= set(DEFAULT_LOCALES):
        # Imported here: it takes as long as all other imports.
        from importlib.metadata import version

        drawn = f"-faker-{version('faker')}"
    key = hashlib.sha256(_SHIPPED.read_bytes() + " ".join(locales).encode()).hexdigest()[:12]
    return f"pools-{RECIPE}{drawn}-{key}.txt"


def read_cached(kind: str, path: Path) -> bytes:
    """Return a file of the cache; nothing if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise no_cache(kind, path, error) from error


def cache_content(kind: str, path: Path, content: bytes) -> None:
    """Write a file of the cache, which another process may be reading or writing too."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as fresh:
            fresh.write_bytes(content)
    except OSError as error:
        raise no_cache(kind, path, error) from error


def no_cache(kind: str, path: Path, error: OSError) -> BadInput:
    message = f"cannot keep the {kind} in {path}: {error.strerror}"
    return BadInput(message, "set XDG_CACHE_HOME to a writable folder")
