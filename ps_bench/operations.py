"""The suite's operations: the paper's scenario (Table 12, page 12), and each of its requests.

Each operation is a scenario file in `scenarios/`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from sitebench.scenario.script import Script, from_text

PAGE_BYTES = 8_290
"""Bytes of a page (Table 12)."""

_FILES = Path(__file__).parent / "scenarios"


def text_of(operation: str, *, keepalive: bool = False) -> str:
    """Return the scenario file of an operation; without `keepalive` every request connects."""
    text = (_FILES / f"{operation}.toml").read_text(encoding="utf-8")
    return text.replace('per = "step"', 'per = "user"') if keepalive else text


@lru_cache
def built_in(operation: str, *, keepalive: bool = False) -> Script:
    return from_text(operation, text_of(operation, keepalive=keepalive))
