"""`--mix`: verbs with their weights."""

from __future__ import annotations

from sitebench.errors import UnknownValue

_VERBS = ("search", "modify", "compare")


def parse_mix(text: str) -> tuple[tuple[str, int], ...]:
    """Read `search=90,modify=10`."""
    found = []
    for part in text.split(","):
        verb, equals, weight = (each.strip() for each in part.partition("="))
        if verb not in _VERBS or not equals or not weight.isdecimal() or int(weight) < 1:
            raise UnknownValue(
                f"{part.strip()!r} is not one of {', '.join(_VERBS)} with its weight",
                "write it like search=90,modify=10",
            )
        found.append((verb, int(weight)))
    if len({verb for verb, _ in found}) < len(found):
        raise UnknownValue(f"{text!r} names a verb twice", "add its weights up")
    return tuple(found)


def show_mix(mix: tuple[tuple[str, int], ...] | None) -> str:
    return ",".join(f"{verb}={weight}" for verb, weight in mix or ())
