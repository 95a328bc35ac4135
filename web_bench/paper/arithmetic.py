"""What the papers compute from measurements: users, lines, costs of requests, efficiencies, load.

Rates are requests per second, times are seconds, sizes are bytes unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from sitebench.errors import BadInput

MBIT = 10**6
WEBSTONE_MBIT = 2**20
"""What WebStone's source calls a megabit; the capacity table of 1996 takes it for a line's, too."""

LINE_EFFICIENCY = {"50K": 0.75, "250K": 0.94}
"""The part of a line that was used in practice in the capacity table of 1996, by the size of a
connection: 1536 of 2048, 385.1 of 409.6."""

BITS_PER_K = {"bits": 1024, "bytes": 8 * 1024}
"""K of that table: as its figures have it, and as files are measured."""


def line_capacity(
    bits_per_s: float,
    k_per_connection: float,
    *,
    efficiency: float = 1.0,
    k: Literal["bits", "bytes"] = "bytes",
) -> float:
    """Return how many connections a second a line carries."""
    return bits_per_s * efficiency / (k_per_connection * BITS_PER_K[k])


def off_mean(measured: float, mean_bytes: float) -> float:
    """Return by what part the measured bytes of a request differ from the file set's mean.

    Headers make this a few percent. More is another file set than the one named, as in the
    WebStone report of 1996: 19 KB, and "roughly 7 KB" in its text.
    """
    return measured / mean_bytes - 1


class MeasuredMix(msgspec.Struct, frozen=True):
    """The saturated rate of a mix, and the share of its requests that are of the second kind."""

    share: float
    requests_per_s: float


class Costs(msgspec.Struct, frozen=True):
    """Seconds of the bottleneck's time that one request of each kind takes: 1/X = sum of f D."""

    first_s: float
    second_s: float

    def predict(self, share: float) -> float:
        """Return the rate of a mix with a share of the second kind."""
        return rate_of(((1 - share, self.first_s), (share, self.second_s)))


def rate_of(parts: Sequence[tuple[float, float]]) -> float:
    """Return the rate of a mix of (share, seconds per request)."""
    return 1 / sum(share * cost_s for share, cost_s in parts)


def costs(one: MeasuredMix, other: MeasuredMix) -> Costs:
    """Return the cost of either kind of request, from two mixes of both."""
    if one.share == other.share:
        raise BadInput(
            f"two mixes of the same share, {one.share:.0%}, do not separate the costs",
            "measure another share",
        )
    rise = (1 / other.requests_per_s - 1 / one.requests_per_s) / (other.share - one.share)
    first = 1 / one.requests_per_s - one.share * rise
    if first <= 0 or first + rise <= 0:
        raise BadInput(
            "the two rates need a request of negative cost: one bottleneck did not limit both",
            "measure both at saturation, on the same server",
        )
    return Costs(first, first + rise)


def cost_of(
    requests_per_s: float, share: float, others: Sequence[tuple[float, float]] = ()
) -> float:
    """Return the cost of what a share of a mix's requests takes, all (share, cost) else known.

    For TLS, `share` is that of the requests over TLS, and the others sum to 1 without it: the
    result is what TLS adds to a request.
    """
    return (1 / requests_per_s - sum(part * cost_s for part, cost_s in others)) / share


def load_factor(requests_per_s: float, latency_s: float) -> float:
    """Return the requests in progress (Little's law).

    Without pauses this is the number of clients; less means that clients waited elsewhere.
    """
    return requests_per_s * latency_s


class CurvePoint(msgspec.Struct, frozen=True):
    """One point of a sweep over clients."""

    clients: int
    requests_per_s: float
    latency_s: float


def peak(curve: Sequence[CurvePoint]) -> CurvePoint:
    """Return the point with the highest rate; of equal ones, that with the fewest clients."""
    return min(curve, key=lambda point: (-point.requests_per_s, point.clients))


class Efficiency(msgspec.Struct, frozen=True):
    """SPICE efficiency: a program's share of the static test's rate and latency.

    From 2000's definitions, which give the two at each test's own peak. Those have different
    numbers of clients, so the latency efficiency there exceeds 1 (228.7 % in Table 9); at equal
    clients and saturation both are the same.
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
    """The efficiency in three ways."""

    own_peaks: Efficiency
    """Each at its own peak, as the paper prints it."""
    equal_clients: tuple[Efficiency, ...]
    """At every number of clients that both were measured with, fewest first."""
    highest_load: Efficiency
    """The efficiency at the highest load."""


def spice_efficiency(static: Sequence[CurvePoint], spice: Sequence[CurvePoint]) -> SpiceEfficiency:
    """Compare two sweeps of one server: the static test's and a SPICE test's."""
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
