"""Analysis of a sweep over clients: peak, stages, useful peak, efficiencies, predicted rates.

Only valid points count. If the load generator was the limit, the rate is a lower bound, and the
latency is the load generator's: such a point is not on the curve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from sitebench.errors import BadInput
from sitebench.measure.peak.curve import MOST_FAILED, Spot, failed_share, knee
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
"""Largest coefficient of variation of equally served clients. The paper of 2000 asks for equal
treatment and prints no bound."""

LEAST_PER_CLIENT = 30
"""Least number of requests per client: with fewer requests, clients differ by chance."""

LATENCY_LIMIT_S = 1.0
"""Largest mean latency of a useful peak; the paper asks for an "acceptable" latency."""

STATIC = "spice-static"
"""Static test with which tests of programs are compared."""

rate = figure_of("requests_per_s")
variation = figure_of("clients.variation")

LEAST_SHARE = 0.5
"""Least share of the mean number of requests that every client must have. A few starved clients
hardly change the coefficient of variation."""


def curve(points: Sequence[Series]) -> list[CurvePoint]:
    """Return the valid points without a set rate and with few failures, fewest clients first."""
    curve_points = [
        CurvePoint(point.spec.users, point.median(rate) or 0.0, point.median(latency_s) or 0.0)
        for point in points
        if point.valid
        and point.spec.rate is None
        and point.median(rate)
        and failed_share(point.results) <= MOST_FAILED
    ]
    return sorted(curve_points, key=lambda point: point.clients)


class Stages(msgspec.Struct, frozen=True):
    """Numbers of clients in the two stages of a sweep.

    In the rising stage more clients raise the rate more than the latency, in the saturated stage
    the latency more than the rate. Rate divided by latency is highest between the stages.
    """

    rising: tuple[int, ...]
    saturated: tuple[int, ...]


def stages(points: Sequence[CurvePoint]) -> Stages | None:
    """Return the stages; None if points are too few, or if the rate still rises.

    Return None too if two points have the same number of clients, as the points of `vary` have.
    """
    if len({point.clients for point in points}) < len(points):
        return None
    spots = [
        Spot(point.clients, point.requests_per_s, point.latency_s * 1e6, True) for point in points
    ]
    turn = knee(spots)
    if turn is None:
        return None
    clients = [point.clients for point in points]
    return Stages(
        tuple(n for n in clients if n <= turn.load), tuple(n for n in clients if n > turn.load)
    )


def fair(point: Series) -> bool | None:
    """Return whether the clients were served equally; None if unknown."""
    spread, mean = point.median(variation), point.median(figure_of("clients.mean"))
    fewest = point.median(figure_of("clients.least"))
    if point.spec.users == 1:
        return True
    if spread is None or mean is None or fewest is None or mean < LEAST_PER_CLIENT:
        return None
    return spread <= MOST_VARIATION and fewest >= LEAST_SHARE * mean


def useful(point: Series) -> bool | None:
    took = point.median(latency_s)
    if (took is not None and took > LATENCY_LIMIT_S) or failed_share(point.results) > MOST_FAILED:
        return False
    return None if took is None else fair(point)


def useful_peak(points: Sequence[Series]) -> CurvePoint | None:
    curve_points = curve([point for point in points if useful(point)])
    return peak(curve_points) if curve_points else None


def peak_of(points: Sequence[Series], figure: str = "requests_per_s") -> Series | None:
    """Return the point with the highest value of a figure; None if no point is usable.

    Points with many failures are excluded, because failures can be faster than answers.
    """
    sound = [
        point
        for point in points
        if point.usable and point.median(figure_of(figure)) is not None
        if failed_share(point.results) <= MOST_FAILED
    ]
    return min(
        sound,
        key=lambda point: (-(point.median(figure_of(figure)) or 0.0), point.spec.users),
        default=None,
    )


def of_schedule(point: Series) -> bool:
    """Return whether the schedule limited all repeats, so that the rate is a lower bound."""
    return all(result.verdict.bound == Bound.SCHEDULE for result in point.results)


def peak_reached(points: Sequence[Series]) -> CurvePoint | None:
    """Return the peak of a curve; None if a point outside the curve has a higher rate.

    Such a point is a lower bound, had failures or did not settle, so the peak is unknown.
    """
    curve_points = curve(points)
    best = peak(curve_points) if curve_points else None
    return best if best is not None and _highest(points) <= best.requests_per_s else None


def bound_of(points: Sequence[Series]) -> float:
    """Return the highest rate that load generator or schedule make a lower bound."""
    return _highest(
        point
        for point in points
        if failed_share(point.results) <= MOST_FAILED
        and (point.grade == Quoted.AT_LEAST or (point.valid and of_schedule(point)))
    )


def _highest(points: Iterable[Series]) -> float:
    return max((point.median(rate) or 0.0 for point in points), default=0.0)


def efficiencies(by_workload: Mapping[str, Sequence[Series]]) -> dict[str, SpiceEfficiency]:
    return {
        name: compared
        for name, compared in _comparisons(by_workload).items()
        if isinstance(compared, SpiceEfficiency)
    }


def not_compared(by_workload: Mapping[str, Sequence[Series]]) -> list[str]:
    return [
        f"No SPICE efficiency of {name}: {compared}."
        for name, compared in _comparisons(by_workload).items()
        if isinstance(compared, str)
    ]


def _comparisons(
    by_workload: Mapping[str, Sequence[Series]],
) -> dict[str, SpiceEfficiency | str]:
    """Return the efficiency of each program, or the reason why there is none."""
    of_static = by_workload.get(STATIC)
    if of_static is None:
        return {}
    return {
        name: _compare(of_static, points)
        for name, points in by_workload.items()
        if name != STATIC and name.startswith(("spice-", "ecommerce-"))
    }


def _compare(of_static: Sequence[Series], points: Sequence[Series]) -> SpiceEfficiency | str:
    static, tested = peak_reached(of_static), peak_reached(points)
    if static is None or tested is None:
        doubts = filter(None, map(_doubt, (of_static, points)))
        return " and ".join(doubts) or _bounds(of_static, points)
    if differ := unlike([*of_static, *points]):
        return f"they were not measured alike: {', '.join(differ)}"
    try:
        return spice_efficiency(curve(of_static), curve(points))
    except BadInput:
        return "they have no number of clients in common"


def _bounds(of_static: Sequence[Series], of_program: Sequence[Series]) -> str:
    """Return what is known of a program's efficiency if a peak is not known."""
    static, tested = peak_reached(of_static), peak_reached(of_program)
    static_bound, program_bound = bound_of(of_static), bound_of(of_program)
    if tested is not None and static_bound:
        share = tested.requests_per_s / static_bound
        return (
            f"{STATIC} does at least {format_rate(static_bound)}/s, so it keeps at most {share:.1%}"
        )
    if static is not None and program_bound:
        share = program_bound / static.requests_per_s
        return f"it does at least {format_rate(program_bound)}/s, and so keeps at least {share:.1%}"
    if static_bound and program_bound:
        at_least_s = f"{STATIC} at least {format_rate(static_bound)}/s"
        return (
            f"no peak is known: it does at least {format_rate(program_bound)}/s, and {at_least_s}"
        )
    return f"{STATIC if static is None else 'it'} has no valid point"


_OF_A_LOAD = frozenset(("arrivals", "threads", "until", "timeout", "seed"))
"""Settings that may differ between compared points."""


def unlike(points: Iterable[Series]) -> list[str]:
    """Return the settings that differ between points, except settings of the load."""
    setups = [{**point.spec.settings, "target": point.spec.target} for point in points]
    names = dict.fromkeys(name for setup in setups for name in setup)
    return [
        name
        for name in names
        if name not in _OF_A_LOAD and len({setup.get(name) for setup in setups}) > 1
    ]


def _doubt(points: Sequence[Series]) -> str:
    if not curve(points) or peak_reached(points) or bound_of(points) >= _highest(points):
        return ""
    name = points[0].spec.operation
    return f"{name} did more where requests failed or nothing settled: measure that again"


class Prediction(msgspec.Struct, frozen=True):
    """The rate of a mix: predicted by the cost model, and measured."""

    workload: str
    sources: tuple[str, ...]
    """Workloads that the prediction is computed from."""
    requests_per_s: float
    measured: float
    finding: str
    """Text on the costs in the model."""

    @property
    def off(self) -> float:
        return self.requests_per_s / self.measured - 1


WEBBENCH1 = {"webbench1-static": 0.0, "webbench1-light": 0.1, "webbench1-heavy": 0.9}
"""Shares of CGI requests, by workload."""

_TLS_SHARE, _DYNAMIC_SHARE = 0.08, 0.19
"""Shares of requests over TLS and to programs in the e-commerce test."""


_NEEDED = {
    "webbench1-heavy": tuple(WEBBENCH1),
    **{
        f"ecommerce-{kind}": (f"ecommerce-{kind}", STATIC, f"spice-{kind}")
        for kind in ("inprocess", "cgi")
    },
}
"""Workloads that the prediction for a workload needs, including this workload."""


def predictions(by_workload: Mapping[str, Sequence[Series]]) -> tuple[list[Prediction], list[str]]:
    peaks = {
        name: best.requests_per_s
        for name, points in by_workload.items()
        if (best := peak_reached(points)) is not None and _used_up(points, best)
    }
    predicted, failed = [], []
    for name, needed in _NEEDED.items():
        if not set(needed) <= set(by_workload):
            continue
        lacking = [workload for workload in needed if workload not in peaks]
        if differ := unlike(point for workload in needed for point in by_workload[workload]):
            failed.append(f"{name}: they were not measured alike: {', '.join(differ)}")
        elif lacking:
            words = "has no valid point that a used-up resource limited"
            failed.append(f"{name}: {', '.join(lacking)} {words}")
        else:
            try:
                predicted.append(_predict(name, needed, peaks))
            except BadInput as error:
                failed.append(f"{name}: {error.message}")
    return predicted, failed


def _predict(name: str, needed: Sequence[str], peaks: Mapping[str, float]) -> Prediction:
    sources = tuple(workload for workload in needed if workload != name)
    if name in WEBBENCH1:
        mixes = (MeasuredMix(WEBBENCH1[workload], peaks[workload]) for workload in sources)
        model = costs(*mixes)
        finding = (
            f"a file costs {model.first_s * 1e3:.3g} ms of the bottleneck's time, "
            f"a program {model.second_s * 1e3:.3g} ms"
        )
        return Prediction(name, sources, model.predict(WEBBENCH1[name]), peaks[name], finding)
    shares = (1 - _DYNAMIC_SHARE, _DYNAMIC_SHARE)
    parts = [(share, 1 / peaks[source]) for share, source in zip(shares, sources, strict=True)]
    tls_s = cost_of(peaks[name], _TLS_SHARE, parts)
    if tls_s <= 0:
        raise BadInput("it is faster than it would be without TLS", "measure them again")
    finding = f"without TLS; the difference is {tls_s * 1e3:.3g} ms for each request over TLS"
    return Prediction(name, sources, rate_of(parts), peaks[name], finding)


def _used_up(points: Sequence[Series], best: CurvePoint) -> bool:
    top = best.clients, best.requests_per_s
    sound = (point for point in points if point.valid)
    limiting = next(point for point in sound if (point.spec.users, point.median(rate)) == top)
    return all(r.verdict.bound not in (Bound.UNDECIDED, Bound.SCHEDULE) for r in limiting.results)
