"""The tables of a sweep over clients, in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from sitebench.measure.peak.curve import MOST_FAILED
from sitebench.runs.point import PointResult
from sitebench.runs.repeats import Of, Series, series
from sitebench.tables.bottlenecks import bottleneck_tables
from sitebench.tables.tables import bounds, latency_mark, medians, new_table, rate_mark, titled
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


def tables(results: Sequence[PointResult]) -> list[RenderableType]:
    """Return every table of a sweep: over clients, peaks, mix, SPICE, predictions, bottlenecks."""
    found = by_workload(results)
    return [
        *(_over_clients(name, each) for name, each in found.items()),
        _peaks(found),
        _mixes(found),
        *spice_tables(found),
        *_predictions(found),
        *bottleneck_tables(results),
    ]


def by_workload(results: Sequence[PointResult]) -> dict[str, list[Series]]:
    """Return each workload's points, fewest clients first."""
    return grouped(series(results))


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


RATES: Columns = {
    "requests\nper s": _rate("requests_per_s"),
    "conn.\nper s": _rate("connects_per_s"),
    "Mbit/s": _rate("mbit_per_s"),
    "load\nfactor": _median(in_progress, "{:,.1f}".format),
}
LATENCIES: Columns = {
    "mean": lambda each: latency_mark(each, "mean"),
    "connect": _median(figure_of("split_s.connect"), _time),
    "TLS": _median(figure_of("split_s.tls"), _time),
    "first byte": _median(figure_of("split_s.first_byte"), _time),
    "rest": _median(figure_of("split_s.rest"), _time),
    "p50": lambda each: latency_mark(each, "p50"),
    "p99": lambda each: latency_mark(each, "p99"),
}


def row(each: Series, columns: Columns) -> list[str]:
    return [cell(each) for cell in columns.values()]


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


def _over_clients(name: str, found: Sequence[Series]) -> Group:
    table = new_table("clients", *RATES, "clients\nvary", "failed", "bound by", left=0)
    took = new_table("clients", *LATENCIES, left=0)
    for each in found:
        clients = f"{each.spec.users:,}"
        failed = failures(each)
        varies = medians([each], figure_of("clients.variation"), "{:.0%}".format)
        table.add_row(clients, *row(each, RATES), *varies, failed, bounds(each))
        took.add_row(clients, *row(each, LATENCIES))
    # What they did: a workload of one's own decides about its connections by itself.
    figures = ("connects_per_s", "requests_per_s")
    opened, requests = (found[0].median(figure_of(each)) or 0.0 for each in figures)
    how = "connections kept" if opened < requests / 2 else "a connection per request"
    return Group(
        titled(f"{name}: by clients ({found[0].spec.target}, {how})", table),
        Text(bytes_note(found), style="dim"),
        titled(f"{name}: latency, its mean split into its parts", took),
    )


PEAKS = ("requests/s", "Mbit/s", "rising", "saturated", "useful peak")


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


PEAK_NOTES = (
    "@: with so many clients. Rising: more clients raise the rate more than the latency; "
    "saturated: the latency more than the rate.",
    f"Useful peak: the clients' requests vary by at most {MOST_VARIATION:.0%} (coefficient of "
    f"variation) and none has less than {LEAST_SHARE:.0%} of their mean, the mean latency is at "
    f"most {LATENCY_LIMIT_S:g} s, and at most {MOST_FAILED:.1%} of the requests fail.",
)


def _peaks(found: Mapping[str, Sequence[Series]]) -> Group:
    table = new_table("Workload", *PEAKS)
    for name, each in found.items():
        table.add_row(name, *peak_row(each))
    notes = [Text(note, style="dim") for note in PEAK_NOTES]
    return Group(titled("Peaks, with their clients", table), *notes)


MIXES = ("Asked for", "Requests", "Count", "Failed")


def mix_rows(found: Sequence[Series]) -> tuple[list[list[str]], float]:
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
    return rows, worst


def _mixes(found: Mapping[str, Sequence[Series]]) -> Group:
    table = new_table("Workload", "Class", *MIXES, left=2)
    for name, each in found.items():
        rows, worst = mix_rows(each)
        for n, cells in enumerate(rows):
            table.add_row("" if n else f"{name}\noff by {worst:.1f}", *cells)
    note = "Exact in every deck; off by: requests of a point that the deck's share differs by."
    return Group(titled("Requests by class", table), Text(note, style="dim"))


SPICE = ("Static\nclients", "Program\nclients", "Request\nefficiency", "Latency\nefficiency")


def spice_rows(found: Mapping[str, Sequence[Series]]) -> list[list[str]]:
    """Return the SPICE efficiencies of each program, in the three ways."""
    rows = []
    for name, each in efficiencies(found).items():
        rows.append([name, "own peaks", *_efficiency(each.own_peaks)])
        rows += [["", "equal clients", *_efficiency(equal)] for equal in each.equal_clients]
        rows.append(["", "highest load", *_efficiency(each.highest_load)])
    return rows


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


def spice_tables(found: Mapping[str, Sequence[Series]]) -> list[Group]:
    rows, why = spice_rows(found), [Text(each) for each in not_compared(found)]
    why += [Text(each, style="dim") for each in light_load(found)]
    if not rows:
        return [Group(*why)] if why else []
    table = new_table("Workload", "Compared", *SPICE, left=2)
    for cells in rows:
        table.add_row(*cells)
    note = "Own peaks: as the paper has it, each at its own number of clients."
    title = "SPICE efficiency: what of the static test's rate a program keeps"
    return [Group(titled(title, table), Text(note, style="dim"), *why)]


PREDICTIONS = ("From", "Predicted", "Measured", "off by", "")


def prediction_rows(found: Mapping[str, Sequence[Series]]) -> tuple[list[list[str]], list[str]]:
    """Return the cost model's rates beside the measured ones, and what it could not predict."""
    made, failed = predictions(found)
    rows = [
        [
            each.workload,
            ", ".join(each.of),
            f"{format_rate(each.requests_per_s)}/s",
            f"{format_rate(each.measured)}/s",
            f"{each.off:+.1%}",
            each.said,
        ]
        for each in made
    ]
    return rows, failed


def _predictions(found: Mapping[str, Sequence[Series]]) -> list[RenderableType]:
    rows, failed = prediction_rows(found)
    made: list[RenderableType] = [Text(f"No prediction of {each}") for each in failed]
    if rows:
        table = new_table("Workload", *PREDICTIONS[:-1], left=2)
        for cells in rows:
            table.add_row(*cells[:-1])
        said = [Text(f"{cells[0]}: {cells[-1]}", style="dim") for cells in rows]
        title = "Cost model: 1/X is the sum of each kind's share times its cost"
        made.insert(0, Group(titled(title, table), *said))
    return made
