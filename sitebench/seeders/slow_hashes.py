"""Pools of slow password hashes.

A hash is a pure function of seed, kind of hash and number. It takes up to a second, so hashes are
kept in the user's cache folder, where every process of a test reads them.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from sitebench._engine import hash_facts
from sitebench.errors import BadInput
from sitebench.seeders.people import People, Spec
from sitebench.seeders.pools import cache_content, cache_folder, read_cached
from sitebench.system.machine import usable_cores
from sitebench.units import format_bytes, format_duration, plural

_WORTH_SAYING_S = 2.0


def make_hashes(people: People, *, cache: Path | None = None) -> None:
    """Make the missing slow hashes of people; an interruption keeps the finished hashes."""
    population, spec = people.population, people.spec
    path = _file(spec, cache)
    population.take_hashes(read_cached("hashes", path))
    total, ready = population.slow_hashes
    if ready == total:
        return
    assert spec.hash is not None
    _, _, _, memory = hash_facts(spec.hash)
    # Imported late: few directories have slow hashes.
    import psutil

    from sitebench.monitor.memory import usable_bytes

    free = min(psutil.virtual_memory().available, usable_bytes())
    if memory > free:
        # Linux would grant more memory than it has, and later kill the process that uses it.
        raise BadInput(
            f"{spec.hash} takes {format_bytes(memory)} of memory for each password, and "
            f"{format_bytes(free)} are free",
            "use less memory: OWASP's minimum is argon2:19m:2",
        )
    began = time.monotonic()
    population.entry(ready)
    one_s = time.monotonic() - began
    threads = min(usable_cores(), free // memory if memory else total)
    left_s = one_s * (total - ready - 1) / threads
    try:
        if left_s < _WORTH_SAYING_S:
            population.make_hashes(threads)
        else:
            _make_and_say(people, threads, left_s, one_s)
    finally:
        _, finished = population.slow_hashes
        if finished > ready:
            cache_content("hashes", path, population.hashes())


def _make_and_say(people: People, threads: int, left_s: float, one_s: float) -> None:
    from sitebench.measure.command import say
    from sitebench.measure.progress import bar

    total, ready = people.population.slow_hashes
    cores = f"{threads} cores" if threads > 1 else "one core"
    say(
        f"{total - ready:,} hashes {people.spec.hash} take about "
        f"{format_duration(float(round(left_s)))}, at {1000 * one_s:,.0f} ms each on {cores}; "
        "they are kept for the next command, also after Ctrl-C"
    )
    with bar(f"hashing {plural(total, 'password')}", total) as move:
        people.population.make_hashes(threads, move)


def _file(spec: Spec, cache: Path | None) -> Path:
    identity = json.dumps([spec.seed, spec.hash, spec.one_password])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return (cache or cache_folder()) / f"hashes-{digest}"
