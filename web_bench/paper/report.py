from __future__ import annotations

import re
from collections.abc import Sequence

from sitebench.counts.metrics import LATENCY
from sitebench.report.charts import Chart, dataset, drawing, quantity, tell_apart
from sitebench.report.suite import Printed, RateFigure, ReportSuite
from sitebench.runs.repeats import Series
from web_bench.paper.analysis import efficiencies
from web_bench.paper.beside import paper_tables
from web_bench.paper.figures import figure_of
from web_bench.paper.printed import PAPERS, WEBBENCH, WEBSTONE
from web_bench.paper.tables import by_target, by_workload, tables
from web_bench.suite import SUITE
from web_bench.workload import built_in

_WEBSTONE_MACHINE = "ProLiant 2500, 1996"


def _figures_of(operation: str, title: str) -> list[RateFigure]:
    rates, latencies = _points(operation)
    return [
        RateFigure(
            operation, title, operation, figure_of("requests_per_s"), rates, unit="requests/s"
        ),
        RateFigure(
            f"{operation}-latency",
            f"{title}: latency",
            operation,
            lambda result: result.clocks[LATENCY].mean,
            latencies,
            unit="mean latency",
            axis="us",
        ),
    ]


def _points(operation: str) -> tuple[list[Printed], list[Printed]]:
    rates: dict[str, dict[int, float]] = {}
    latencies: dict[str, dict[int, float]] = {}
    for point in PAPERS["webbench1"].points:
        if WEBBENCH[point.workload] == operation:
            machine = f"{point.server}, 1997"
            if point.requests_per_s is not None:
                rates.setdefault(machine, {})[point.clients] = point.requests_per_s
            if point.latency_ms is not None:
                latencies.setdefault(machine, {})[point.clients] = 1e3 * point.latency_ms
    for name in (name for name, workload in WEBSTONE.items() if workload == operation):
        peaks = PAPERS["webstone2"].table("Peak Performance Data")
        cell = peaks.cell(name, "Connections/s")
        rate, clients = map(int, re.findall(r"\d+", cell))
        rates[_WEBSTONE_MACHINE] = {clients: rate}
    return _machines(rates), _machines(latencies)


def _machines(curves: dict[str, dict[int, float]]) -> list[Printed]:
    return [Printed(name, list(curve), list(curve.values())) for name, curve in curves.items()]


_WAYS = ("today, own peaks", "today, highest load")
_IWS = "iWS, 4 CPUs, 2000"
_THEN = {
    "spice-inprocess": "Four-Processor 100% Java Servlet",
    "spice-cgi": "Four-Processor 100% CGI",
    "spice-template": "Four-Processor 100% JSP",
    "spice-page": "Four-Processor 100% SHTML",
    "ecommerce-inprocess": "Four-Processor E-commerce (Servlet)",
    "ecommerce-cgi": "Four-Processor E-commerce (CGI)",
}


def _charts(points: Sequence[Series]) -> list[Chart]:
    return [
        chart
        for n, (target, of_target) in enumerate(by_target(points).items())
        if (chart := _spice_chart(n, target, of_target)) is not None
    ]


def _spice_chart(n: int, target: str, points: Sequence[Series]) -> Chart | None:
    programs = efficiencies(by_workload(points))
    if not programs:
        return None
    rows = []
    for name, program in programs.items():
        rows.append((_WAYS[0], name, program.own_peaks.request))
        rows.append((_WAYS[1], name, program.highest_load.request))
        if (printed := _iws(name)) is not None:
            rows.append((_IWS, name, printed))
    columns = dataset(("series", "workload", "kept"), rows)
    series = {"field": "series", "type": "nominal", "sort": [*_WAYS, _IWS]}
    return Chart(
        id=f"spice-{n}",
        title=f"SPICE request efficiency: {target}",
        description=(
            "The share of the static test's requests/s that each program keeps, at their own "
            "peaks, at the highest load of both, and as the paper of 2000 prints it."
        ),
        spec=drawing(
            250,
            data={"name": "kept"},
            usermeta={"series": "series"},
            mark={"type": "bar"},
            encoding={
                "x": {
                    "field": "workload",
                    "type": "nominal",
                    "sort": None,
                    "axis": {"title": None, "labelAngle": 0},
                },
                "xOffset": series,
                "y": quantity("kept", axis={"title": "of the static test's rate", "format": "%"}),
                "color": tell_apart("color", _WAYS, [_IWS]),
                "tooltip": [
                    {"field": "series", "title": "compared"},
                    {"field": "workload", "title": "workload"},
                    quantity("kept", title="request efficiency", format=".1%"),
                ],
            },
        ),
        choices={"": {"kept": columns}},
    )


def _iws(workload: str) -> float | None:
    if workload not in _THEN:
        return None
    for table in PAPERS["webbench3"].tables:
        if table.title.startswith("iWS") and _THEN[workload] in [line[0] for line in table.rows]:
            return table.value(_THEN[workload], "iWS SPICE Request Rate Efficiency") / 100
    return None


REPORT = ReportSuite(
    name=SUITE.name,
    title=SUITE.title,
    size_title="Clients",
    people="clients",
    figures_of=_figures_of,
    operations={name: operation.title for name, operation in built_in().items()},
    tables=tables,
    printed_beside=paper_tables,
    charts=_charts,
)
