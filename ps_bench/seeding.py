"""`sitebench ps seed`: a user-property database for any other use."""

from __future__ import annotations

from pathlib import Path

from ps_bench.options import SeedOptions
from seeders.upd import UpdSpec, build
from sitebench.measure.command import say
from sitebench.measure.progress import bar


def seed_file(options: SeedOptions, path: Path) -> None:
    """Write the file; what was there stays until the new one is whole."""
    spec = UpdSpec(options.entries, options.seed, options.locales)
    with bar(f"writing {path}", spec.size) as move:
        upd = build(spec, path, lambda done, _: move(done))
    say(f"{spec.size:,} people in {path}, {path.stat().st_size:,} bytes")
    say(f"digest {upd.manifest['digest']}")
