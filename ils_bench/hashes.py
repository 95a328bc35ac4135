"""Hashes of passwords, taken apart."""

from __future__ import annotations

from collections.abc import Mapping

from sitebench._engine import hash_facts
from sitebench.frozen import frozen
from sitebench.system.native_errors import translated

ROUNDS, PASSES, MEMORY = "rounds", "passes", "MiB of memory"
AS_STORED = "as stored"
"""Passwords of accounts, and of an Active Directory, whose hashes only the server knows."""
_USUAL = {"crypt": 5_000.0, "argon2": 3.0}
"""Rounds and passes that a hash is written without (`native/shared/hashes/src/hash.rs`)."""
_MIB = 2.0**20


@frozen
class Hashed:
    """A hash taken apart: its name, and the numbers that make it dearer."""

    text: str
    name: str
    knobs: Mapping[str, float]
    memory_mib: float | None
    """What checking one takes; None where the hash is not known."""

    @classmethod
    def of(cls, text: str) -> Hashed:
        if text == AS_STORED:
            return cls(text, text, {}, None)
        with translated():
            _, _, _, memory = hash_facts(text)
        name, *numbers = text.split(":")
        mib = memory / _MIB
        if name == "argon2":
            passes = float(numbers[1]) if len(numbers) > 1 else _USUAL[name]
            return cls(text, name, {PASSES: passes, MEMORY: mib}, mib)
        if numbers or name in _USUAL:
            return cls(text, name, {ROUNDS: float(numbers[0]) if numbers else _USUAL[name]}, mib)
        return cls(text, name, {}, mib)
