from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sitebench.http.mix import off_by
from sitebench.measure.peak.curve import MOST_FAILED
from sitebench.report.suite import Folded
from sitebench.runs.repeats import Of, Series
from sitebench.tables.table import Row, Table
from sitebench.tables.tables import latency_mark, limit, marked, medians, rate_mark
from sitebench.units import format_ns, format_rate, parse_duration, plural
from sitebench.verdict.verdict import Quoted
from web_bench.paper.analysis import (
    LATENCY_LIMIT_S,
    LEAST_SHARE,
    MOST_VARIATION,
    STATIC,
    bound_of,
    curve,
    efficiencies,
    not_compared,
    of_schedule,
    peak_of,
    predictions,
    stages,
    useful_peak,
)
from web_bench.paper.arithmetic import Efficiency, off_mean
from web_bench.paper.figures import figure_of, in_progress

NOT_KNOWN = "-"


def tables(points: Sequence[Series]) -> list[Folded]:
    groups = []
    targets = by_target(points)
    for target, of_target in targets.items():
        called = f" ({target})" if len(targets) > 1 else ""
        measured = by_workload(of_target)
        by_clients = [table for workload in measured.items() for table in _over_clients(*workload)]
        groups += [
            Folded(f"Over clients{called}", by_clients),
            Folded(f"Peaks{called}", [_peaks(measured)]),
            Folded(f"Requests by class{called}", [_mix(*row) for row in measured.items()], True),
        ]
        if program_tables := [*spice_tables(measured), *_cost_model(measured)]:
            groups.append(Folded(f"Programs against files{called}", program_tables))
    return groups


def by_target(points: Sequence[Series]) -> dict[str, list[Series]]:
    targets: dict[str, list[Series]] = {}
    for point in points:
        targets.setdefault(point.spec.target, []).append(point)
    return targets


def by_workload(measured: Sequence[Series]) -> dict[str, list[Series]]:
    """Return the points of each workload, fewest clients first."""
    points: dict[str, list[Series]] = {point.spec.operation: [] for point in measured}
    for point in sorted(measured, key=lambda point: point.spec.users):
        points[point.spec.operation].append(point)
    return points


def _time(seconds: float) -> str:
    return format_ns(seconds * 1e9) if seconds else NOT_KNOWN


Columns = Mapping[str, Callable[[Series], str]]
"""Functions that return a cell of a point, by column title."""


def _median(getter: Of, show: Callable[[float], str]) -> Callable[[Series], str]:
    return lambda point: medians([point], getter, show)[0]


def _rate(name: str) -> Callable[[Series], str]:
    return lambda point: rate_mark(point, figure_of(name))


_RATES: Columns = {
    "requests\nper s": _rate("requests_per_s"),
    "conn.\nper s": _rate("connects_per_s"),
    "Mbit/s": _rate("mbit_per_s"),
    "load\nfactor": _median(in_progress, "{:,.1f}".format),
}
_LATENCIES: Columns = {
    "mean": lambda point: latency_mark(point, "mean"),
    "connect": _median(figure_of("split_s.connect"), _time),
    "TLS": _median(figure_of("split_s.tls"), _time),
    "first byte": _median(figure_of("split_s.first_byte"), _time),
    "rest": _median(figure_of("split_s.rest"), _time),
    "p50": lambda point: latency_mark(point, "p50"),
    "p99": lambda point: latency_mark(point, "p99"),
}


def per_client(point: Series) -> str:
    lowest, highest, varies = (
        point.median(figure_of(f"clients.{name}")) for name in ("least", "most", "variation")
    )
    if lowest is None or highest is None or varies is None:
        return NOT_KNOWN
    return f"{lowest:,.0f}..{highest:,.0f} ({varies:.0%})"


def client_latency(point: Series) -> str:
    """Return the mean latencies of the clients with the most and the least requests.

    Without pauses and schedule, latency is the window's length divided by a client's requests.
    """
    lowest, highest = (point.median(figure_of(f"clients.{name}")) for name in ("least", "most"))
    think_s = parse_duration(point.spec.settings.get("think", "0s"))
    pauses = point.spec.rate is not None or think_s > 0
    # Steps of a scenario file can pause too.
    pauses = pauses or any(result.figures.get("pauses") for result in point.results)
    if pauses or not lowest or not highest:
        return NOT_KNOWN
    seconds = point.median(lambda result: result.seconds) or 0.0
    return f"{_time(seconds / highest)}..{_time(seconds / lowest)}"


_CLIENTS: Columns = {"requests": per_client, "latency": client_latency}


def failures(point: Series) -> str:
    per_s = point.median(lambda result: result.failures / result.seconds)
    return f"{point.failures:,} ({format_rate(per_s)}/s)" if point.failures and per_s else "0"


def bytes_note(points: Sequence[Series]) -> str:
    best = peak_of(points) or points[0]
    received, mean = (
        best.median(figure_of("bytes_per_request")),
        best.median(figure_of("mean_bytes")),
    )
    if received is None or mean is None:
        return ""
    return (
        f"A request brought {received:,.0f} bytes, head and body; by the workload's classes a "
        f"body has {mean:,.0f} ({off_mean(received, mean):+.1%})."
    )


def _over_clients(name: str, points: Sequence[Series]) -> list[Table]:
    # Counts show whether connections were kept, because a scenario file can keep them too.
    figures = ("connects_per_s", "requests_per_s")
    opened, requests = (points[0].median(figure_of(figure)) or 0.0 for figure in figures)
    connections = "connections kept" if opened < requests / 2 else "a connection per request"
    note = bytes_note(points)
    return [
        Table(
            f"{name}: by clients ({points[0].spec.target}, {connections})",
            ("clients", *_RATES, "failed", "bound by"),
            [[*_row(point, _RATES), failures(point), limit(point)] for point in points],
            left=0,
            notes=[note] if note else [],
        ),
        Table(
            f"{name}: latency, its mean split into its parts",
            ("clients", *_LATENCIES),
            [_row(point, _LATENCIES) for point in points],
            left=0,
        ),
        Table(
            f"{name}: the client with the least requests, and that with the most",
            ("clients", *_CLIENTS),
            [_row(point, _CLIENTS) for point in points],
            left=0,
        ),
    ]


def _row(point: Series, columns: Columns) -> Row:
    cells = (cell(point) for cell in columns.values())
    return [marked(point, f"{point.spec.users:,}"), *cells]


def peak_row(points: Sequence[Series]) -> list[str]:
    curve_points = curve(points)
    sweep_stages = stages(curve_points)
    return [
        at_clients(peak_of(points), figure_of("requests_per_s")),
        at_clients(peak_of(points, "mbit_per_s"), figure_of("mbit_per_s")),
        NOT_KNOWN if sweep_stages is None else _span(sweep_stages.rising),
        NOT_KNOWN if sweep_stages is None else _span(sweep_stages.saturated),
        _useful(points),
    ]


def at_clients(best: Series | None, getter: Of, scale: float = 1.0) -> str:
    """Return a peak in the form of the papers: 602 @ 500 clients."""
    if best is None:
        return NOT_KNOWN
    bound = ">= " if best.grade == Quoted.AT_LEAST or of_schedule(best) else ""
    return f"{bound}{format_rate(scale * (best.median(getter) or 0.0))} @ {best.spec.users:,}"


def _useful(points: Sequence[Series]) -> str:
    best = useful_peak(points)
    if best is None:
        return NOT_KNOWN
    bound = ">= " if bound_of(points) > best.requests_per_s else ""
    return f"{bound}{format_rate(best.requests_per_s)} @ {best.clients:,}"


def _span(clients: Sequence[int]) -> str:
    return f"{clients[0]:,}" if len(clients) == 1 else f"{clients[0]:,} to {clients[-1]:,}"


_PEAK_NOTES = (
    "@: with so many clients. Rising: more clients raise the rate more than the latency; "
    "saturated: the latency more than the rate.",
    f"Useful peak: the clients' requests vary by at most {MOST_VARIATION:.0%} (coefficient of "
    f"variation) and none has less than {LEAST_SHARE:.0%} of their mean, the mean latency is at "
    f"most {LATENCY_LIMIT_S:g} s, and at most {MOST_FAILED:.1%} of the requests fail.",
)


def _peaks(workloads: Mapping[str, Sequence[Series]]) -> Table:
    columns = ("Workload", "requests/s", "Mbit/s", "rising", "saturated", "useful peak")
    rows = [[name, *peak_row(points)] for name, points in workloads.items()]
    return Table("Peaks, with their clients", columns, rows, notes=_PEAK_NOTES)


def _mix(workload: str, points: Sequence[Series]) -> Table:
    """Return a row per class over all points, and the largest gap of a point to the mix.

    Every deck has the exact mix, but each edge of the window cuts one deck per thread.
    """
    summed = class_counts(points)
    mixes = (r.figures.get("mix", {}) for point in points for r in point.results)
    largest_gap = max((off_by(classes) for mix in mixes for classes in mix.values()), default=0.0)
    total = sum(sums["count"] for sums in summed.values()) or 1
    rows = [
        [
            name,
            f"{sums['asked_percent']:.5g}%",
            f"{100 * sums['count'] / total:.3f}%",
            f"{sums['count']:,.0f}",
            f"{sums['failed']:,.0f}",
        ]
        for name, sums in summed.items()
    ]
    columns = ("Class", "Asked for", "Requests", "Count", "Failed")
    note = f"A point is off by {largest_gap:.1f} requests at most: decks that its window cuts."
    return Table(f"{workload}: requests by class", columns, rows, notes=[note])


def class_counts(points: Sequence[Series]) -> dict[str, dict[str, float]]:
    """Return the counts of each class, summed over all points."""
    summed: dict[str, dict[str, float]] = {}
    for result in (result for point in points for result in point.results):
        for classes in result.figures.get("mix", {}).values():
            for name, counted in classes.items():
                sums = summed.setdefault(name, {**counted, "count": 0, "failed": 0})
                sums["count"] += counted["count"]
                sums["failed"] += counted["failed"]
    return summed


def spice_tables(workloads: Mapping[str, Sequence[Series]]) -> list[Table]:
    rows = []
    for name, program in efficiencies(workloads).items():
        rows.append([name, "own peaks", *_efficiency(program.own_peaks)])
        rows += [["", "equal clients", *_efficiency(equal)] for equal in program.equal_clients]
        rows.append(["", "highest load", *_efficiency(program.highest_load)])
    notes = [*not_compared(workloads), *light_load(workloads)]
    if not rows and not notes:
        return []
    notes.insert(0, "Own peaks: as the paper has it, each at its own number of clients.")
    title = "SPICE efficiency: what of the static test's rate a program keeps" if rows else "SPICE"
    efficiency = ("Request\nefficiency", "Latency\nefficiency")
    columns = ("Workload", "Compared", "Static\nclients", "Program\nclients", *efficiency)
    return [Table(title, columns, rows, 2, notes)]


def _efficiency(pair: Efficiency) -> list[str]:
    return [
        f"{pair.static_clients:,}",
        f"{pair.spice_clients:,}",
        f"{pair.request:.1%}",
        f"{pair.latency:.1%}",
    ]


def light_load(workloads: Mapping[str, Sequence[Series]]) -> list[str]:
    """Return a note on the latency of each program with the fewest clients.

    "Simply add the SPICE latency to the time it takes your application to do its job" (2000).
    """
    latencies = []
    for name, points in workloads.items():
        curve_points = curve(points) if name.startswith("spice-") and name != STATIC else ()
        if curve_points:
            lightest = curve_points[0]
            clients = plural(lightest.clients, "client")
            latencies.append(f"{name}, {clients}: {format_ns(lightest.latency_s * 1e9)}")
    if not latencies:
        return []
    added = "a lightly loaded server answers in that and what the application takes"
    return [f"SPICE latency at the lightest load: {'; '.join(latencies)}: {added}."]


def _cost_model(workloads: Mapping[str, Sequence[Series]]) -> list[Table]:
    predicted, failed = predictions(workloads)
    rows = [
        [
            prediction.workload,
            ", ".join(prediction.sources),
            f"{format_rate(prediction.requests_per_s)}/s",
            f"{format_rate(prediction.measured)}/s",
            f"{prediction.off:+.1%}",
        ]
        for prediction in predicted
    ]
    if not rows and not failed:
        return []
    notes = [f"{prediction.workload}: {prediction.finding}" for prediction in predicted]
    notes += [f"No prediction of {reason}" for reason in failed]
    title = "Cost model: 1/X is the sum of each kind's share times its cost"
    return [Table(title, ("Workload", "From", "Predicted", "Measured", "off by"), rows, 2, notes)]
