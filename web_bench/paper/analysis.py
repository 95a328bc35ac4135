"""What a sweep over clients shows: peak, stages, useful peak, efficiencies, predicted rates.

Only valid points count. Where the tester was the limit, the rate is a lower bound: it may be the
peak, and is not on the curve, whose latencies would be the tester's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from sitebench.errors import BadInput
from sitebench.frozen import frozen
from sitebench.measure.peak.curve import MOST_FAILED, Spot, failed, knee
from sitebench.runs.repeats import Series
from sitebench.units import format_rate
from sitebench.verdict.verdict import Bound, Quoted
from web_bench.paper.arithmetic import (
    CurvePoint,
    MeasuredMix,
    SpiceEfficiency,
    cost_of,
    costs,
    peak,
    rate_of,
    spice_efficiency,
)
from web_bench.paper.figures import figure_of, latency_s

MOST_VARIATION = 0.25
"""The coefficient of variation up to which clients count as treated equally. The paper of 2000 asks
for equal treatment and prints no bound."""

LEAST_PER_CLIENT = 30
"""With fewer requests per client, chance alone makes clients differ."""

LATENCY_LIMIT_S = 1.0
"""The mean latency up to which a peak is useful; the paper asks for "acceptable"."""

STATIC = "spice-static"
"""The static test that SPICE workloads are compared with."""

rate = figure_of("requests_per_s")
variation = figure_of("clients.variation")

LEAST_SHARE = 0.5
"""What the client that is served least must have of the mean: a few who get nothing hardly change
the coefficient of variation."""


def curve(found: Sequence[Series]) -> list[CurvePoint]:
    """Return the valid points where hardly any request failed, fewest clients first.

    Where requests come by a rate the target does what it is asked, which is no point of its curve.
    """
    points = [
        CurvePoint(each.spec.users, each.median(rate) or 0.0, each.median(latency_s) or 0.0)
        for each in found
        if each.valid
        and each.spec.rate is None
        and each.median(rate)
        and failed(each.results) <= MOST_FAILED
    ]
    return sorted(points, key=lambda each: each.clients)


@frozen
class Stages:
    """The two stages of a sweep, by their numbers of clients.

    In the first, more clients raise the rate more than the latency; in the second, the latency
    more than the rate. The rate divided by the latency is highest where one turns into the other.
    """

    rising: tuple[int, ...]
    saturated: tuple[int, ...]


def stages(found: Sequence[CurvePoint]) -> Stages | None:
    """Return the stages; None if too few points were measured, or if the rate still rises.

    Nor are there any where points differ in something else than their clients, as those of `vary`.
    """
    if len({each.clients for each in found}) < len(found):
        return None
    spots = [Spot(each.clients, each.requests_per_s, each.latency_s * 1e6, True) for each in found]
    turn = knee(spots)
    if turn is None:
        return None
    clients = [each.clients for each in found]
    return Stages(
        tuple(n for n in clients if n <= turn.load), tuple(n for n in clients if n > turn.load)
    )


def fair(each: Series) -> bool | None:
    """Return whether the clients were served equally; None where that is not known."""
    found, mean = each.median(variation), each.median(figure_of("clients.mean"))
    least = each.median(figure_of("clients.least"))
    if each.spec.users == 1:
        return True
    if found is None or mean is None or least is None or mean < LEAST_PER_CLIENT:
        return None
    return found <= MOST_VARIATION and least >= LEAST_SHARE * mean


def useful(each: Series) -> bool | None:
    """Return whether a point may be the useful peak: fair, fast enough, and hardly any failure."""
    took = each.median(latency_s)
    if (took is not None and took > LATENCY_LIMIT_S) or failed(each.results) > MOST_FAILED:
        return False
    return None if took is None else fair(each)


def useful_peak(found: Sequence[Series]) -> CurvePoint | None:
    """Return the highest rate at which clients are served equally, and fast enough."""
    points = curve([each for each in found if useful(each)])
    return peak(points) if points else None


def peak_of(found: Sequence[Series], figure: str = "requests_per_s") -> Series | None:
    """Return the point with the highest value of a figure, or None if no point is usable.

    Where more than a few requests failed the rate may be that of failing.
    """
    sound = [
        each
        for each in found
        if each.usable and each.median(figure_of(figure)) is not None
        if failed(each.results) <= MOST_FAILED
    ]
    return min(
        sound,
        key=lambda each: (-(each.median(figure_of(figure)) or 0.0), each.spec.users),
        default=None,
    )


def of_schedule(each: Series) -> bool:
    """Return whether no more was asked of the target: what it did is a lower bound of its peak."""
    return all(result.verdict.bound == Bound.SCHEDULE for result in each.results)


def peak_reached(found: Sequence[Series]) -> CurvePoint | None:
    """Return the peak of a curve; None where a point that is not on it lies above it.

    That is a lower bound, so that the server does more, or one that failed or never settled, so
    that it may.
    """
    points = curve(found)
    best = peak(points) if points else None
    return best if best is not None and _highest(found) <= best.requests_per_s else None


def bound_of(found: Sequence[Series]) -> float:
    """Return the highest rate that is a lower bound: of the tester's limit, or of a schedule."""
    return _highest(
        each
        for each in found
        if failed(each.results) <= MOST_FAILED
        and (each.grade == Quoted.AT_LEAST or (each.valid and of_schedule(each)))
    )


def _highest(found: Iterable[Series]) -> float:
    return max((each.median(rate) or 0.0 for each in found), default=0.0)


def efficiencies(by_workload: Mapping[str, Sequence[Series]]) -> dict[str, SpiceEfficiency]:
    """Return the efficiencies of every workload that can be compared with the static test."""
    of_static = by_workload.get(STATIC, ())
    made: dict[str, SpiceEfficiency] = {}
    for name, found in by_workload.items():
        if not _compared(name) or peak_reached(of_static) is None or peak_reached(found) is None:
            continue
        if unlike([*of_static, *found]):
            continue
        static, tested = curve(of_static), curve(found)
        # Without a common number of clients there is nothing to compare.
        with contextlib.suppress(BadInput):
            made[name] = spice_efficiency(static, tested)
    return made


_OF_A_LOAD = frozenset(("arrivals", "threads", "until", "timeout", "seed"))
"""Settings in which points of one curve, or of two that are compared, may differ."""


def unlike(found: Iterable[Series]) -> list[str]:
    """Return what points differ in beside their load: a server set up otherwise has other rates."""
    setups = [{**each.spec.settings, "target": each.spec.target} for each in found]
    names = dict.fromkeys(name for each in setups for name in each)
    return [
        name
        for name in names
        if name not in _OF_A_LOAD and len({each.get(name) for each in setups}) > 1
    ]


def not_compared(by_workload: Mapping[str, Sequence[Series]]) -> list[str]:
    """Return why there is no efficiency of a program, and what is known of it all the same."""
    of_static = by_workload.get(STATIC)
    if of_static is None:
        return []
    made, told = efficiencies(by_workload), []
    for name in filter(_compared, by_workload):
        if name not in made:
            sides = of_static, by_workload[name]
            why = " and ".join(filter(None, map(_doubt, sides))) or _not_compared(*sides)
            told.append(f"No SPICE efficiency of {name}: {why}.")
    return told


def _not_compared(of_static: Sequence[Series], found: Sequence[Series]) -> str:
    static, tested = peak_reached(of_static), peak_reached(found)
    at_least, least = bound_of(of_static), bound_of(found)
    if static is None and tested is not None and at_least:
        most = tested.requests_per_s / at_least
        return f"{STATIC} does at least {format_rate(at_least)}/s, so it keeps at most {most:.1%}"
    if static is not None and tested is None and least:
        most = least / static.requests_per_s
        return f"it does at least {format_rate(least)}/s, and so keeps at least {most:.1%}"
    if at_least and least:
        at_least_s = f"{STATIC} at least {format_rate(at_least)}/s"
        return f"no peak is known: it does at least {format_rate(least)}/s, and {at_least_s}"
    lacking = STATIC if static is None else "it"
    if static is None or tested is None:
        return f"{lacking} has no valid point"
    if differ := unlike([*of_static, *found]):
        return f"they were not measured alike: {', '.join(differ)}"
    return "they have no number of clients in common"


def _doubt(found: Sequence[Series]) -> str:
    """Say of a curve that what is above its peak is no lower bound either."""
    if not curve(found) or peak_reached(found) or bound_of(found) >= _highest(found):
        return ""
    name = found[0].spec.operation
    return f"{name} did more where requests failed or nothing settled: measure that again"


def _compared(name: str) -> bool:
    return name != STATIC and name.startswith(("spice-", "ecommerce-"))


@frozen
class Prediction:
    """A mix's rate by the cost model, beside the measured one."""

    workload: str
    of: tuple[str, ...]
    """The workloads whose rates it is made from."""
    requests_per_s: float
    measured: float
    said: str
    """What the model found on the way."""

    @property
    def off(self) -> float:
        """By what part the prediction differs from the measurement."""
        return self.requests_per_s / self.measured - 1


WEBBENCH1 = {"webbench1-static": 0.0, "webbench1-light": 0.1, "webbench1-heavy": 0.9}
"""The share of CGI requests."""

_TLS_SHARE, _DYNAMIC_SHARE = 0.08, 0.19
"""Of the e-commerce test."""


_NEEDED = {
    "webbench1-heavy": tuple(WEBBENCH1),
    **{
        f"ecommerce-{kind}": (f"ecommerce-{kind}", STATIC, f"spice-{kind}")
        for kind in ("inprocess", "cgi")
    },
}
"""The workloads behind each prediction, itself among them."""


def predictions(by_workload: Mapping[str, Sequence[Series]]) -> tuple[list[Prediction], list[str]]:
    """Return what the cost model predicts of these workloads, and why it cannot predict others."""
    peaks = {
        name: best.requests_per_s
        for name, found in by_workload.items()
        if (best := peak_reached(found)) is not None and _used_up(found, best)
    }
    made, failed = [], []
    static, light, heavy = WEBBENCH1
    lacking = dict(_without_peak(by_workload, peaks.keys()))
    failed += [f"{name}: {why}" for name, why in lacking.items()]
    if peaks.keys() >= WEBBENCH1.keys() and heavy not in lacking:
        try:
            found = costs(*(MeasuredMix(WEBBENCH1[name], peaks[name]) for name in (static, light)))
        except BadInput as error:
            failed.append(f"{heavy}: {error.message}")
        else:
            said = (
                f"a file costs {found.first_s * 1e3:.3g} ms of the bottleneck's time, "
                f"a program {found.second_s * 1e3:.3g} ms"
            )
            predicted = found.predict(WEBBENCH1[heavy])
            made.append(Prediction(heavy, (static, light), predicted, peaks[heavy], said))
    for name in ("ecommerce-inprocess", "ecommerce-cgi"):
        program = name.replace("ecommerce-", "spice-")
        if peaks.keys() >= {name, STATIC, program} and name not in lacking:
            parts = _without_tls(program, peaks)
            tls_s = cost_of(peaks[name], _TLS_SHARE, parts)
            if tls_s <= 0:
                failed.append(f"{name}: it is faster than it would be without TLS")
                continue
            said = f"without TLS; the difference is {tls_s * 1e3:.3g} ms for each request over TLS"
            without = rate_of(parts)
            made.append(Prediction(name, (STATIC, program), without, peaks[name], said))
    return made, failed


def _used_up(found: Sequence[Series], best: CurvePoint) -> bool:
    """Return whether a resource of the target limited the point that is its peak."""
    top = best.clients, best.requests_per_s
    at = next(each for each in found if each.valid and (each.spec.users, each.median(rate)) == top)
    return all(r.verdict.bound not in (Bound.UNDECIDED, Bound.SCHEDULE) for r in at.results)


def _without_peak(
    measured: Mapping[str, Sequence[Series]], peaks: Container[str]
) -> Iterator[tuple[str, str]]:
    """Yield what would be predicted if every workload that it needs had a valid point."""
    for name, needed in _NEEDED.items():
        lacking = [each for each in needed if each not in peaks]
        if not set(needed) <= set(measured):
            continue
        if differ := unlike(each for of in needed for each in measured[of]):
            yield name, f"they were not measured alike: {', '.join(differ)}"
        elif lacking:
            yield name, f"{', '.join(lacking)} has no valid point that a used-up resource limited"


def _without_tls(program: str, peaks: Mapping[str, float]) -> tuple[tuple[float, float], ...]:
    """Return the parts of an e-commerce mix, each with its share and cost, but for TLS."""
    return (1 - _DYNAMIC_SHARE, 1 / peaks[STATIC]), (_DYNAMIC_SHARE, 1 / peaks[program])
