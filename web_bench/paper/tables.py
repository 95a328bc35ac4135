"""The tables of a sweep over clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
from web_bench.paper.figures import figure_of, in_progress, off_by

NOT_KNOWN = "-"


def tables(found: Sequence[Series]) -> list[Folded]:
    """Return the tables of each target: over clients, peaks, mix, programs against files."""
    groups = []
    targets = by_target(found)
    for target, of_target in targets.items():
        called = f" ({target})" if len(targets) > 1 else ""
        measured = grouped(of_target)
        over = [table for each in measured.items() for table in _over_clients(*each)]
        groups += [
            Folded(f"Over clients{called}", over),
            Folded(f"Peaks{called}", [_peaks(measured)]),
            Folded(f"Requests by class{called}", [_mix(*each) for each in measured.items()], True),
        ]
        if more := [*spice_tables(measured), *_cost_model(measured)]:
            groups.append(Folded(f"Programs against files{called}", more))
    return groups


def by_target(found: Sequence[Series]) -> dict[str, list[Series]]:
    targets: dict[str, list[Series]] = {}
    for each in found:
        targets.setdefault(each.spec.target, []).append(each)
    return targets


def grouped(measured: Sequence[Series]) -> dict[str, list[Series]]:
    """Return each workload's points, fewest clients first."""
    found: dict[str, list[Series]] = {}
    for each in measured:
        found.setdefault(each.spec.operation, []).append(each)
    return {name: sorted(all_, key=lambda each: each.spec.users) for name, all_ in found.items()}


def _time(seconds: float) -> str:
    return format_ns(seconds * 1e9) if seconds else NOT_KNOWN


Columns = Mapping[str, Callable[[Series], str]]
"""Cells of a point by their titles."""


def _median(of: Of, show: Callable[[float], str]) -> Callable[[Series], str]:
    return lambda each: medians([each], of, show)[0]


def _rate(name: str) -> Callable[[Series], str]:
    return lambda each: rate_mark(each, figure_of(name))


_RATES: Columns = {
    "requests\nper s": _rate("requests_per_s"),
    "conn.\nper s": _rate("connects_per_s"),
    "Mbit/s": _rate("mbit_per_s"),
    "load\nfactor": _median(in_progress, "{:,.1f}".format),
}
_LATENCIES: Columns = {
    "mean": lambda each: latency_mark(each, "mean"),
    "connect": _median(figure_of("split_s.connect"), _time),
    "TLS": _median(figure_of("split_s.tls"), _time),
    "first byte": _median(figure_of("split_s.first_byte"), _time),
    "rest": _median(figure_of("split_s.rest"), _time),
    "p50": lambda each: latency_mark(each, "p50"),
    "p99": lambda each: latency_mark(each, "p99"),
}


def per_client(each: Series) -> str:
    """Return the requests of the client with the least and of that with the most."""
    least, most, varies = (
        each.median(figure_of(f"clients.{name}")) for name in ("least", "most", "variation")
    )
    if least is None or most is None or varies is None:
        return NOT_KNOWN
    return f"{least:,.0f}..{most:,.0f} ({varies:.0%})"


def client_latency(each: Series) -> str:
    """Return the mean latencies of the clients with the most and with the least requests.

    A client asks again when it is answered, so its latency is the window by its requests: where it
    does not pause, and nothing comes by a rate.
    """
    least, most = (each.median(figure_of(f"clients.{name}")) for name in ("least", "most"))
    pauses = each.spec.rate is not None or parse_duration(each.spec.settings.get("think", "0s")) > 0
    # Also between the steps of a file.
    pauses = pauses or any(result.figures.get("pauses") for result in each.results)
    if pauses or not least or not most:
        return NOT_KNOWN
    seconds = each.median(lambda result: result.seconds) or 0.0
    return f"{_time(seconds / most)}..{_time(seconds / least)}"


_CLIENTS: Columns = {"requests": per_client, "latency": client_latency}


def failures(each: Series) -> str:
    """Return how many requests failed, and how many a second if any did (WebStone's errors)."""
    per_s = each.median(lambda result: result.failures / result.seconds)
    return f"{each.failures:,} ({format_rate(per_s)}/s)" if each.failures and per_s else "0"


def bytes_note(found: Sequence[Series]) -> str:
    """Return what a request brought, beside the mean of the files and programs."""
    best = peak_of(found) or found[0]
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


def _over_clients(name: str, found: Sequence[Series]) -> list[Table]:
    # What they did: a workload of one's own decides about its connections by itself.
    figures = ("connects_per_s", "requests_per_s")
    opened, requests = (found[0].median(figure_of(each)) or 0.0 for each in figures)
    how = "connections kept" if opened < requests / 2 else "a connection per request"
    note = bytes_note(found)
    return [
        Table(
            f"{name}: by clients ({found[0].spec.target}, {how})",
            ("clients", *_RATES, "failed", "bound by"),
            [[*_row(each, _RATES), failures(each), limit(each)] for each in found],
            left=0,
            notes=[note] if note else [],
        ),
        Table(
            f"{name}: latency, its mean split into its parts",
            ("clients", *_LATENCIES),
            [_row(each, _LATENCIES) for each in found],
            left=0,
        ),
        Table(
            f"{name}: the client with the least requests, and that with the most",
            ("clients", *_CLIENTS),
            [_row(each, _CLIENTS) for each in found],
            left=0,
        ),
    ]


def _row(each: Series, columns: Columns) -> Row:
    cells = (cell(each) for cell in columns.values())
    return [marked(each, f"{each.spec.users:,}"), *cells]


def peak_row(found: Sequence[Series]) -> list[str]:
    """Return a workload's peaks, each with its clients, and the two stages."""
    points = curve(found)
    turn = stages(points)
    return [
        at_clients(peak_of(found), figure_of("requests_per_s")),
        at_clients(peak_of(found, "mbit_per_s"), figure_of("mbit_per_s")),
        NOT_KNOWN if turn is None else _span(turn.rising),
        NOT_KNOWN if turn is None else _span(turn.saturated),
        _useful(found),
    ]


def at_clients(best: Series | None, of: Of, scale: float = 1.0) -> str:
    """Return a peak as the papers write it: 602 @ 500 clients."""
    if best is None:
        return NOT_KNOWN
    bound = ">= " if best.grade == Quoted.AT_LEAST or of_schedule(best) else ""
    return f"{bound}{format_rate(scale * (best.median(of) or 0.0))} @ {best.spec.users:,}"


def _useful(found: Sequence[Series]) -> str:
    best = useful_peak(found)
    if best is None:
        return NOT_KNOWN
    bound = ">= " if bound_of(found) > best.requests_per_s else ""
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


def _peaks(found: Mapping[str, Sequence[Series]]) -> Table:
    columns = ("Workload", "requests/s", "Mbit/s", "rising", "saturated", "useful peak")
    rows = [[name, *peak_row(each)] for name, each in found.items()]
    return Table("Peaks, with their clients", columns, rows, notes=_PEAK_NOTES)


def _mix(workload: str, found: Sequence[Series]) -> Table:
    """Return a row per class over all points, and by how many requests a point is off at most.

    Every deck is exact; a window cuts through one deck per thread at each of its ends.
    """
    summed: dict[str, dict[str, float]] = {}
    worst = 0.0
    for result in (result for each in found for result in each.results):
        for classes in result.figures.get("mix", {}).values():
            worst = max(worst, off_by(classes))
            for name, counted in classes.items():
                known = summed.setdefault(name, {**counted, "count": 0, "failed": 0})
                known["count"] += counted["count"]
                known["failed"] += counted["failed"]
    every = sum(each["count"] for each in summed.values()) or 1
    rows = [
        [
            name,
            f"{each['asked_percent']:.5g}%",
            f"{100 * each['count'] / every:.3f}%",
            f"{each['count']:,.0f}",
            f"{each['failed']:,.0f}",
        ]
        for name, each in summed.items()
    ]
    columns = ("Class", "Asked for", "Requests", "Count", "Failed")
    note = f"A point is off by {worst:.1f} requests at most: decks that its window cuts."
    return Table(f"{workload}: requests by class", columns, rows, notes=[note])


def spice_tables(found: Mapping[str, Sequence[Series]]) -> list[Table]:
    """Return the SPICE efficiencies of each program, in the three ways."""
    rows = []
    for name, each in efficiencies(found).items():
        rows.append([name, "own peaks", *_efficiency(each.own_peaks)])
        rows += [["", "equal clients", *_efficiency(equal)] for equal in each.equal_clients]
        rows.append(["", "highest load", *_efficiency(each.highest_load)])
    notes = [*not_compared(found), *light_load(found)]
    if not rows and not notes:
        return []
    notes.insert(0, "Own peaks: as the paper has it, each at its own number of clients.")
    title = "SPICE efficiency: what of the static test's rate a program keeps" if rows else "SPICE"
    efficiency = ("Request\nefficiency", "Latency\nefficiency")
    columns = ("Workload", "Compared", "Static\nclients", "Program\nclients", *efficiency)
    return [Table(title, columns, rows, 2, notes)]


def _efficiency(each: Efficiency) -> list[str]:
    return [
        f"{each.static_clients:,}",
        f"{each.spice_clients:,}",
        f"{each.request:.1%}",
        f"{each.latency:.1%}",
    ]


def light_load(found: Mapping[str, Sequence[Series]]) -> list[str]:
    """Return each program's latency with the fewest clients, and what it is good for.

    "Simply add the SPICE latency to the time it takes your application to do its job" (2000).
    """
    told = []
    for name, each in found.items():
        points = curve(each) if name.startswith("spice-") and name != STATIC else ()
        if points:
            few = points[0]
            clients = plural(few.clients, "client")
            told.append(f"{name}, {clients}: {format_ns(few.latency_s * 1e9)}")
    if not told:
        return []
    added = "a lightly loaded server answers in that and what the application takes"
    return [f"SPICE latency at the lightest load: {'; '.join(told)}: {added}."]


def _cost_model(found: Mapping[str, Sequence[Series]]) -> list[Table]:
    """Return the cost model's rates beside the measured ones, and what it could not predict."""
    made, failed = predictions(found)
    rows = [
        [
            each.workload,
            ", ".join(each.of),
            f"{format_rate(each.requests_per_s)}/s",
            f"{format_rate(each.measured)}/s",
            f"{each.off:+.1%}",
        ]
        for each in made
    ]
    if not rows and not failed:
        return []
    notes = [f"{each.workload}: {each.said}" for each in made]
    notes += [f"No prediction of {each}" for each in failed]
    title = "Cost model: 1/X is the sum of each kind's share times its cost"
    return [Table(title, ("Workload", "From", "Predicted", "Measured", "off by"), rows, 2, notes)]
