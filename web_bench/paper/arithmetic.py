"""Arithmetic of the papers: users, lines, costs of requests, efficiencies, load.

Rates are requests per second, times are seconds, sizes are bytes, unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from sitebench.errors import BadInput

MBIT = 10**6
WEBSTONE_MBIT = 2**20
"""A megabit in WebStone's source, and in the capacity table of 1996."""

LINE_EFFICIENCY = {"50K": 0.75, "250K": 0.94}
"""Used share of a line, by bytes per connection (capacity table of 1996)."""

BITS_PER_K = {"bits": 1024, "bytes": 8 * 1024}
"""Bits in a K of bits (capacity table of 1996), and in a K of bytes (file sizes)."""


def line_capacity(
    bits_per_s: float,
    k_per_connection: float,
    *,
    efficiency: float = 1.0,
    k: Literal["bits", "bytes"] = "bytes",
) -> float:
    return bits_per_s * efficiency / (k_per_connection * BITS_PER_K[k])


def off_mean(measured: float, mean_bytes: float) -> float:
    """Return the relative difference of a request's measured bytes from the mean of the file set.

    Headers cause a few percent. A larger difference means that another file set was used, as in the
    WebStone report of 1996: it measured 19 KB, and its text says "roughly 7 KB".
    """
    return measured / mean_bytes - 1


class MeasuredMix(msgspec.Struct, frozen=True):
    """Saturated rate of a mix of two kinds of requests, and the share of the second kind."""

    share: float
    requests_per_s: float


class Costs(msgspec.Struct, frozen=True):
    """Seconds that a request of each kind takes at the bottleneck."""

    first_s: float
    second_s: float

    def predict(self, share: float) -> float:
        return rate_of(((1 - share, self.first_s), (share, self.second_s)))


def rate_of(parts: Sequence[tuple[float, float]]) -> float:
    """Return the rate of a mix; each part is a pair of share and seconds per request."""
    return 1 / sum(share * cost_s for share, cost_s in parts)


def costs(first_mix: MeasuredMix, second_mix: MeasuredMix) -> Costs:
    if first_mix.share == second_mix.share:
        raise BadInput(
            f"two mixes of the same share, {first_mix.share:.0%}, do not separate the costs",
            "measure another share",
        )
    rise = (1 / second_mix.requests_per_s - 1 / first_mix.requests_per_s) / (
        second_mix.share - first_mix.share
    )
    first = 1 / first_mix.requests_per_s - first_mix.share * rise
    if first <= 0 or first + rise <= 0:
        raise BadInput(
            "the two rates need a request of negative cost: one bottleneck did not limit both",
            "measure both at saturation, on the same server",
        )
    return Costs(first, first + rise)


def cost_of(
    requests_per_s: float, share: float, other_parts: Sequence[tuple[float, float]] = ()
) -> float:
    """Return the cost of a part of a mix; `other_parts` are pairs of share and cost.

    For TLS, `share` is the share of requests over TLS, and the shares of `other_parts` sum to 1:
    the result is the additional cost of TLS.
    """
    return (1 / requests_per_s - sum(part * cost_s for part, cost_s in other_parts)) / share


def load_factor(requests_per_s: float, latency_s: float) -> float:
    """Return the requests in progress, by Little's law.

    Without pauses it is the number of clients; a lower number means that clients waited elsewhere.
    """
    return requests_per_s * latency_s


class CurvePoint(msgspec.Struct, frozen=True):
    clients: int
    requests_per_s: float
    latency_s: float


def peak(curve: Sequence[CurvePoint]) -> CurvePoint:
    """Return the point with the highest rate; of equal rates, the point with fewest clients."""
    return min(curve, key=lambda point: (-point.requests_per_s, point.clients))


class Efficiency(msgspec.Struct, frozen=True):
    """SPICE efficiency: the rate and latency of a program, relative to the static test.

    The paper of 2000 defines the efficiency at the peak of each test. Peaks have different numbers
    of clients, so the latency efficiency can exceed 1 (228.7 % in Table 9). At equal clients and
    saturation, both efficiencies are equal.
    """

    static_clients: int
    spice_clients: int
    request: float
    latency: float


def efficiency(static: CurvePoint, spice: CurvePoint) -> Efficiency:
    return Efficiency(
        static.clients,
        spice.clients,
        spice.requests_per_s / static.requests_per_s,
        static.latency_s / spice.latency_s,
    )


class SpiceEfficiency(msgspec.Struct, frozen=True):
    own_peaks: Efficiency
    """The efficiency at the peak of each test, as in the paper."""
    equal_clients: tuple[Efficiency, ...]
    """The efficiencies at the numbers of clients measured in both tests, fewest first."""
    highest_load: Efficiency


def spice_efficiency(static: Sequence[CurvePoint], spice: Sequence[CurvePoint]) -> SpiceEfficiency:
    by_clients = {point.clients: point for point in static}
    pairs = sorted(point.clients for point in spice if point.clients in by_clients)
    if not pairs:
        raise BadInput(
            "the static test and the SPICE test have no number of clients in common",
            "sweep both over the same clients",
        )
    tested = {point.clients: point for point in spice}
    equal = tuple(efficiency(by_clients[clients], tested[clients]) for clients in pairs)
    return SpiceEfficiency(efficiency(peak(static), peak(spice)), equal, equal[-1])
