"""The mix of a measured window: the number and the share of each class of operations."""

from __future__ import annotations

from collections.abc import Mapping


def shares(counts: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return by name the count, its percentage, and the percentage by `weights`."""
    total, weight = sum(counts.values()), sum(weights.values())
    return {
        name: {
            "count": count,
            "percent": 100.0 * count / total if total else 0.0,
            "asked_percent": 100.0 * weights[name] / weight,
        }
        for name, count in counts.items()
    }


def off_by(mix: Mapping[str, Mapping[str, float]]) -> float:
    """Return the largest gap between a count and the count that the exact mix would have."""
    total = sum(figures["count"] for figures in mix.values())
    gaps = (abs(row["count"] - total * row["asked_percent"] / 100.0) for row in mix.values())
    return max(gaps, default=0.0)
