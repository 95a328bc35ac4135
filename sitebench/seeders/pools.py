"""Name pools, as files for the engine.

The SHA-256 of a pools file is in every manifest, and runs with different pools are not compared. So
that people do not change with each release of Faker, the pools of the default locales were drawn
once (by `harvest`), and Faker draws other locales only. Line 2 of every pools file names the
version of Faker that drew the default locales.
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
    path: Path
    digest: str


def pools(locales: Sequence[str] = DEFAULT_LOCALES, *, cache: Path | None = None) -> PoolsFile:
    """Return the pools of `locales`; the cache keeps pools that are not shipped."""
    _check_locales(locales)
    if tuple(locales) == DEFAULT_LOCALES:
        return PoolsFile(_SHIPPED, hashlib.sha256(_SHIPPED.read_bytes()).hexdigest())
    path = (cache or cache_folder()) / _file_name(locales)
    if not (content := read_cached("name pools", path)):
        content = _put_together(locales).encode()
        cache_content("name pools", path, content)
    return PoolsFile(path, hashlib.sha256(content).hexdigest())


def _put_together(locales: Sequence[str]) -> str:
    head, shipped = _read_shipped()

    def fallback(field: Field) -> Sequence[str]:
        _, _, following = shipped[FALLBACK_LOCALE].partition(f"[{FALLBACK_LOCALE} {field.name}]\n")
        values, _, _ = following.partition("\n[")
        return values.splitlines()

    return head + "".join(shipped.get(locale) or section(locale, fallback) for locale in locales)


@functools.cache
def _read_shipped() -> tuple[str, Mapping[str, str]]:
    """Return the first two lines of a pools file, and the shipped pools by locale."""
    text = _SHIPPED.read_text(encoding="utf-8")
    head, *parts = re.split(r"^(?=\[\S+ country\])", text, flags=re.MULTILINE)
    return head, dict(zip(DEFAULT_LOCALES, parts, strict=True))


def _check_locales(locales: Sequence[str]) -> None:
    """Refuse locales that Faker cannot draw, before it draws any."""
    if not locales:
        raise BadInput("--locales: the list is empty", f"name at least one, for example {EXAMPLES}")
    for locale in locales:
        if locales.count(locale) > 1:
            raise BadInput(f"--locales: {locale} is listed twice", "name each locale once")
        country(locale)


def cache_folder() -> Path:
    """Return the cache folder; a relative path is ignored, as the XDG specification says."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "sitebench"


def _file_name(locales: Sequence[str]) -> str:
    drawn = ""
    if not set(locales) <= set(DEFAULT_LOCALES):
        # Imported late: the import takes as long as all other imports.
        from importlib.metadata import version

        drawn = f"-faker-{version('faker')}"
    key = hashlib.sha256(_SHIPPED.read_bytes() + " ".join(locales).encode()).hexdigest()[:12]
    return f"pools-{RECIPE}{drawn}-{key}.txt"


def read_cached(kind: str, path: Path) -> bytes:
    """Return the content of a cached file; empty if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise no_cache(kind, path, error) from error


def cache_content(kind: str, path: Path, content: bytes) -> None:
    """Write a cached file, even if another process reads or writes it at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as fresh:
            fresh.write_bytes(content)
    except OSError as error:
        raise no_cache(kind, path, error) from error


def no_cache(kind: str, path: Path, error: OSError) -> BadInput:
    message = f"cannot keep the {kind} in {path}: {error.strerror}"
    return BadInput(message, "set XDG_CACHE_HOME to a writable folder")
