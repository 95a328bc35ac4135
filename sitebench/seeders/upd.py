"""User-property databases: each is built once per spec, cached, and copied for each point."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sitebench._engine import Visitors, build_upd, copy_upd, inspect_upd
from sitebench.errors import BadInput, SitebenchError
from sitebench.seeders import DEFAULT_LOCALES
from sitebench.seeders.people import no_people_or_seed_below_zero
from sitebench.seeders.pools import PoolsFile, cache_folder, no_cache, pools
from sitebench.system.native_errors import translated

Progress = Callable[[int, int], object]
"""Called with the number of people written, and the total."""


@dataclass(frozen=True, slots=True)
class UpdSpec:
    size: int
    seed: int = 1997
    locales: tuple[str, ...] = DEFAULT_LOCALES

    def to_json(self) -> str:
        return json.dumps({"seed": self.seed, "size": self.size, "locales": list(self.locales)})


@dataclass(frozen=True, slots=True)
class Upd:
    path: Path
    manifest: Mapping[str, str | int]


def visitors(spec: UpdSpec) -> Visitors:
    source = _pools(spec)
    with translated():
        identity = {"seed": spec.seed, "locales": list(spec.locales)}
        return Visitors(str(source.path), json.dumps(identity))


def open_cached(
    spec: UpdSpec, progress: Progress = lambda written, total: None, *, cache: Path | None = None
) -> Upd:
    """Return the database of a spec; build it if it is missing or wrong in the cache."""
    path = (cache or cache_folder() / "upd") / _name(spec, _pools(spec))
    if path.exists():
        # A cached file that is truncated or of another version is built again.
        with contextlib.suppress(SitebenchError):
            return inspect(spec, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise no_cache("databases", path.parent, error) from error
    return build(spec, path, progress)


def inspect(spec: UpdSpec, path: Path) -> Upd:
    """Return the database at `path`; raise if it was built from another spec."""
    with translated():
        manifest = inspect_upd(str(path), json.dumps({"size": spec.size}))
    if manifest["population"] != visitors(spec).digest:
        raise BadInput(
            f"{path} holds other people (seed {manifest['seed']}) than those asked for",
            "give its --seed and --locales, or write it again with `sitebench ps seed`",
        )
    return Upd(path, manifest)


def build(spec: UpdSpec, path: Path, progress: Progress = lambda written, total: None) -> Upd:
    """Write the database of a spec; a file at `path` stays until the new database is complete."""
    source = _pools(spec)
    with translated():
        manifest = build_upd(
            str(path), str(source.path), spec.to_json(), lambda n: progress(n, spec.size)
        )
    return Upd(path, manifest)


@contextmanager
def temporary_copy(upd: Upd, folder: Path) -> Iterator[Path]:
    """Yield a temporary copy of a database; the copy can be changed."""
    path = folder / "upd.sqlite"
    with translated():
        copy_upd(str(upd.path), str(path))
    try:
        yield path
    finally:
        for file in folder.glob("upd.sqlite*"):
            file.unlink(missing_ok=True)


def _pools(spec: UpdSpec) -> PoolsFile:
    no_people_or_seed_below_zero(spec.size, spec.seed)
    return pools(spec.locales)


def _name(spec: UpdSpec, source: PoolsFile) -> str:
    people = hashlib.sha256(f"{source.digest} {' '.join(spec.locales)}".encode()).hexdigest()
    return f"upd-{spec.seed}-{spec.size}-{people[:12]}.sqlite"
