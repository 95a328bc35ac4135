"""Planner of the web suite: users of a server, connections of a line, rates of mixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitebench.errors import BadInput, UnknownValue
from sitebench.options import option
from sitebench.plan.formula import Constant, Input
from sitebench.plan.model import Scenario, Step
from sitebench.plan.options import (
    GIGABIT,
    MixPlanOptions,
    Pairs,
    PlanOptions,
    mix_option,
    preset_option,
    rates_option,
)
from sitebench.plan.rates import UNSTATED, RateTable
from sitebench.plan.suite import Calculation, PlanSuite, PrintedAnswer
from sitebench.units import parse_rate
from web_bench.paper.analysis import WEBBENCH1
from web_bench.paper.arithmetic import (
    BITS_PER_K,
    LINE_EFFICIENCY,
    MBIT,
    WEBSTONE_MBIT,
    MeasuredMix,
    costs,
)
from web_bench.paper.figures import figure_of
from web_bench.paper.printed import PAPERS, WEBBENCH
from web_bench.suite import SUITE

_MINUTE_S = 60.0
_MIX = {"webbench1-static": 5.0}
"""The user of the paper makes 5 requests a minute, 2,400 in 8 hours."""

_SCENARIO = Scenario(1.0, _MINUTE_S, _MIX)

_EXAMPLE = "paper-120"


def _machines() -> dict[str, RateTable]:
    paper = PAPERS["webbench1"]
    (example,) = (point for point in paper.points if point.clients == 120 and point.latency_ms)
    rate = (example.requests_per_s,)
    tables = {
        _EXAMPLE: RateTable(
            f"{example.server} at 120 clients (1997)", (UNSTATED,), {"webbench1-static": rate}
        )
    }
    peaks = paper.table("Peak Throughput")
    for name in ("ProLiant 800 1P", "ProLiant 800 2P", "ProLiant 5000 1P", "ProLiant 5000 2P"):
        rates = {operation: (peaks.value(name, column),) for column, operation in WEBBENCH.items()}
        preset = f"paper-{name.removeprefix('ProLiant ').replace(' ', '-').lower()}"
        tables[preset] = RateTable(f"{name} (1997)", (UNSTATED,), rates)
    return tables


_MACHINES = _machines()


@dataclass(frozen=True)
class _WebPlanOptions(MixPlanOptions):
    active: float = option.percent(
        1.0, "Share of the community that is active at any one time.", panel="Load"
    )
    preset: str | None = preset_option(_MACHINES)
    session: float = option.duration(
        _MINUTE_S, "Time in which a user requests --mix.", panel="Load"
    )
    mix: Pairs = mix_option(
        tuple(_MIX.items()),
        "Requests of a user per --session by workload, such as webbench1-static=4.5,spice-cgi=0.5.",
    )
    rates: Pairs | None = rates_option(
        "Requests/s of one machine by workload, such as webbench1-static=1330."
    )
    kilo_per_request: float = option.parsed(
        50.0,
        "K per connection.",
        parse=parse_rate,
        show=lambda kilo: f"{kilo:g}",
        metavar="K",
        panel="Target",
    )
    line_efficiency: float = option.percent(
        LINE_EFFICIENCY["50K"],
        "Share of the line that is used in practice (the paper's: 75% for 50 K, 94% for 250 K).",
        panel="Target",
    )
    k: str = option.choice(
        "bytes", "Meaning of K: 1,024 bytes, or bits as in the paper.", *BITS_PER_K, panel="Target"
    )
    spice_latency: float = option.duration(
        0.0181,
        "SPICE latency of the interface at a light load, from `web spice` (iWS's servlets: "
        "18.1 ms).",
        panel="Target",
    )
    application: float | None = option.duration(
        None,
        "Time that an application takes for a request, for the response time of a lightly loaded "
        "server.",
        panel="Target",
    )
    cgi_share: float = option.percent(
        0.9, "Share of CGI requests whose rate is predicted.", panel="Load"
    )


def _calculations(
    options: PlanOptions, rates: Mapping[str, float], values: Mapping[str, float]
) -> list[Calculation]:
    assert isinstance(options, _WebPlanOptions)
    _check_share("--line-efficiency", options.line_efficiency)
    _check_share("--cgi-share", options.cgi_share)
    per_minute = sum(number for _, number in options.mix) * _MINUTE_S / options.session
    calculations = [_line(options, per_minute)]
    if options.application is not None:
        calculations.append(_response(options.application, options.spice_latency))
    static, light = list(WEBBENCH1)[:2]
    if rates.keys() >= {static, light}:
        calculations.append(_mix(rates[static], rates[light], options.cgi_share))
    return calculations


def _check_share(name: str, share: float) -> None:
    if share > 1:
        raise UnknownValue(f"{name} is {share:.0%}", "give at most 100%")


def _line(options: _WebPlanOptions, per_minute: float) -> Calculation:
    line, size, efficiency = Input("line_bits_per_s"), Input("k_per_request"), Input("efficiency")
    carried = line * efficiency / (size * Input("bits_per_k"))
    label = "with a megabit of 2^20 bits, as 1996 prints"
    printed = Step("printed_per_s", label, "1/s", carried * Constant(WEBSTONE_MBIT / MBIT))
    return Calculation(
        "A line: connections/s, and the users that they serve",
        {
            "line_bits_per_s": ("Bits/s of the line", options.line or GIGABIT),
            "k_per_request": ("K that a connection transfers", options.kilo_per_request),
            "bits_per_k": ("Bits of a K", float(BITS_PER_K[options.k])),
            "efficiency": ("Share of the line that is used", options.line_efficiency),
            "per_minute": ("Requests of a user per minute", per_minute),
        },
        (
            Step("carried_per_s", "connections that the line carries", "1/s", carried),
            *((printed,) if options.k == "bits" else ()),
            Step(
                "users_of_line",
                "users that it serves",
                "users",
                Input("carried_per_s") / (Input("per_minute") / Constant(_MINUTE_S)),
            ),
        ),
        (
            "The table of 1996 is as with --k bits, and a line's megabit of 2^20 bits: with "
            "kilobytes, each of its values is eight times too high.",
        ),
    )


def _response(application_s: float, spice_latency_s: float) -> Calculation:
    return Calculation(
        "Response time of a lightly loaded server",
        {
            "spice_latency_s": ("SPICE latency, in seconds", spice_latency_s),
            "application_s": ("What the application takes for a request", application_s),
        },
        (
            Step(
                "response_s",
                "response time that a user has",
                "s",
                Input("spice_latency_s") + Input("application_s"),
            ),
        ),
        (
            "Of a heavily loaded server this is too little: the application takes its processors "
            "and memory too.",
        ),
    )


def _mix(static: float, light: float, share: float) -> Calculation:
    title = "Cost model: the rate of another mix of files and CGI"
    light_share = WEBBENCH1["webbench1-light"]
    measured = {
        "static_per_s": ("Requests/s of files alone", static),
        "light_per_s": ("Requests/s of the light mix", light),
    }
    try:
        costs(MeasuredMix(0.0, static), MeasuredMix(light_share, light))
    except BadInput as error:
        return Calculation(
            title, measured, (), (f"No prediction: {error.message}; {error.remedy}.",)
        )
    unit = Constant(1.0)
    low, share_input = Input("light_share"), Input("cgi_share")
    file_s, program_s = Input("file_s"), Input("program_s")
    return Calculation(
        title,
        {
            **measured,
            "light_share": ("Share of CGI in the light mix", light_share),
            "cgi_share": ("Share of CGI to predict", share),
        },
        (
            Step("file_s", "what a file costs", "s", unit / Input("static_per_s")),
            Step(
                "program_s",
                "what a program costs",
                "s",
                (unit / Input("light_per_s") - (1 - low) * file_s) / low,
            ),
            Step(
                "predicted_per_s",
                "requests/s of the mix",
                "1/s",
                unit / ((1 - share_input) * file_s + share_input * program_s),
            ),
        ),
    )


PLAN = PlanSuite(
    name=SUITE.name,
    title=f"{SUITE.title} ({SUITE.name.upper()})",
    help="""Plan users, lines and mixes of a web server from a run, from given rates or from those
         of 1997.

    sitebench plan web

    sitebench plan web --rates webbench1-static=1330 --mix webbench1-static=5

    sitebench plan web run.sitebench --mix spice-static=4,spice-cgi=1 --community 100k

    sitebench plan web --preset paper-5000-2p --cgi-share 90% --line 10m --k bits
    """,
    options=_WebPlanOptions,
    operation=lambda series: series.spec.operation,
    rate=figure_of("requests_per_s"),
    scenario=_SCENARIO,
    presets=_MACHINES,
    size=UNSTATED,
    printed=[PrintedAnswer(_EXAMPLE, 16_000, 16_000, near=True)],
    calculations=_calculations,
)
