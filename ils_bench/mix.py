"""`--mix`: verbs with their weights."""

from __future__ import annotations

from sitebench.errors import UnknownValue

_VERBS = ("search", "modify", "compare")


def parse_mix(text: str) -> tuple[tuple[str, int], ...]:
    """Read `search=90,modify=10`."""
    weights = []
    for part in text.split(","):
        verb, equals, weight = (word.strip() for word in part.partition("="))
        if verb not in _VERBS or not equals or not weight.isdecimal() or int(weight) < 1:
            raise UnknownValue(
                f"{part.strip()!r} is not one of {', '.join(_VERBS)} with its weight",
                "write it like search=90,modify=10",
            )
        weights.append((verb, int(weight)))
    if len({verb for verb, _ in weights}) < len(weights):
        raise UnknownValue(f"{text!r} names a verb twice", "add its weights up")
    return tuple(weights)


def show_mix(mix: tuple[tuple[str, int], ...] | None) -> str:
    return ",".join(f"{verb}={weight}" for verb, weight in mix or ())
