"""Name pools: what people are made of, as files for the engine.

The file's bytes are the pools' identity: their SHA-256 is in every manifest, and runs are compared
only where it is equal. So that the people do not change with each release of Faker, the pools of
the default locales were drawn once (by `harvest`) and lie beside this module; Faker is asked for
other locales only. Line 2 of a pools file names the Faker that the pools here came from, whichever
draws further locales: equal names have equal digests.
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
    """Return the pools of `locales`.

    Any but the default locales are put together once, in the user's cache folder (XDG base
    directories) unless `cache` is another.
    """
    _check_locales(locales)
    if tuple(locales) == DEFAULT_LOCALES:
        return PoolsFile(_SHIPPED, hashlib.sha256(_SHIPPED.read_bytes()).hexdigest())
    path = (cache or cache_folder()) / _file_name(locales)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = _put_together(locales).encode()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Another process may be reading, or making it too.
            with atomic_write(path) as fresh:
                fresh.write_bytes(content)
        except OSError as error:
            raise no_cache("name pools", path, error) from error
    except OSError as error:
        raise no_cache("name pools", path, error) from error
    return PoolsFile(path, hashlib.sha256(content).hexdigest())


def _put_together(locales: Sequence[str]) -> str:
    """Return the pools of `locales`: what is shipped, and of other locales what Faker draws."""
    head, shipped = _read_shipped()

    def fallback(field: Field) -> Sequence[str]:
        _, _, following = shipped[FALLBACK_LOCALE].partition(f"[{FALLBACK_LOCALE} {field.name}]\n")
        values, _, _ = following.partition("\n[")
        return values.splitlines()

    return head + "".join(shipped.get(locale) or section(locale, fallback) for locale in locales)


@functools.cache
def _read_shipped() -> tuple[str, Mapping[str, str]]:
    """Return the two lines that a pools file begins with, and what is shipped of each locale."""
    text = _SHIPPED.read_text(encoding="utf-8")
    head, *parts = re.split(r"^(?=\[\S+ country\])", text, flags=re.MULTILINE)
    return head, dict(zip(DEFAULT_LOCALES, parts, strict=True))


def _check_locales(locales: Sequence[str]) -> None:
    """Refuse what cannot be harvested before anything is."""
    if not locales:
        raise BadInput(
            "--locales: none to take names from", f"name at least one, for example {EXAMPLES}"
        )
    for locale in locales:
        if locales.count(locale) > 1:
            raise BadInput(f"--locales: {locale} is listed twice", "name each locale once")
        country(locale)


def cache_folder() -> Path:
    """Return the folder for what can be made again (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path in the variable is invalid and to be ignored, says the specification.
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "sitebench"


def _file_name(locales: Sequence[str]) -> str:
    """Return a name that changes whenever the content would."""
    drawn = ""
    if not set(locales) <= set(DEFAULT_LOCALES):
        # Late: its import takes as long as that of all this.
        from importlib.metadata import version

        drawn = f"-faker-{version('faker')}"
    key = hashlib.sha256(_SHIPPED.read_bytes() + " ".join(locales).encode()).hexdigest()[:12]
    return f"pools-{RECIPE}{drawn}-{key}.txt"


def no_cache(content: str, path: Path, error: OSError) -> BadInput:
    """Return the error of a cache folder that is of no use."""
    message = f"cannot keep the {content} in {path}: {error.strerror}"
    return BadInput(message, "set XDG_CACHE_HOME to a writable folder")
