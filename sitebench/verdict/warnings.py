"""Warnings about a measurement, a function for each; none makes the point invalid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from sitebench.counts.metrics import CENSORED, LATENCY, SERVICE, UNREAD, WRONG
from sitebench.counts.percentile_interval import too_alike_to_tell
from sitebench.counts.steady import Steadiness
from sitebench.counts.until import Until
from sitebench.units import format_duration, format_ns, format_percent, parse_duration, plural
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.rules.generator import schedule_kept
from sitebench.verdict.rules.thresholds import BUSY, STALLED_MOST, STALLED_SOME
from sitebench.verdict.rules.wording import share
from sitebench.verdict.warning import PointWarning, WarningKind

_TIMEOUT = "timeout"

_PORTS_LOW = 0.80
"""If this share of the ports is in use, the next window of a connect sweep may use up the rest."""

_STOLEN = 0.02
"""The least stolen share that is reported: half of the difference that a comparison must show (5
%)."""

_P99_NEEDS = 10_000
"""Samples for a p99, of which a hundred lie beyond it (docs/method.md, rule 5)."""

_LATE_DRAIN_S = 2.0
"""A drain is due every half second: with this delay, four drains are late."""

QUOTA = "run the load generator outside of that control group, or raise its quota (cpu.max)"
WOKE_LATE = (
    "lanes were free, so the load generator woke up late: give it cores of its own (taskset)"
)
"""Remedies by which `sitebench.tables.advice` distinguishes causes of the same warning."""

LONGER = "measure longer: --measure "
"""The remedy of a longer window, without its length."""

MORE_LOAD = "run sitebench on another machine, or give it more threads (--threads 2) or workers"
"""The remedy if the load generator is the limit."""


def find_warnings(window: Evidence) -> tuple[PointWarning, ...]:
    """Return every warning about a window, the gravest first."""
    warnings = [warning for rule in _RULES if (warning := rule(window)) is not None]
    longest = longest_window(warning.remedy for warning in warnings)
    return tuple(
        replace(warning, remedy=longest) if warning.remedy.startswith(LONGER) else warning
        for warning in warnings
    )


def longest_window(remedies: Iterable[str]) -> str:
    """Return the remedy with the longest window."""
    longer = (remedy for remedy in remedies if remedy.startswith(LONGER))
    return max(longer, key=lambda remedy: parse_duration(remedy.removeprefix(LONGER)), default="")


def _unsettled_window(window: Evidence) -> PointWarning | None:
    remedies: dict[str, str] = {
        Steadiness.GROWING: "lower the rate (--rate) until the target keeps up with it",
        Steadiness.UNSETTLED: "warm up longer (--warmup), measure longer (--measure), and look for "
        "other work on the machines",
    }
    if (settled := window.settled) is None or settled.state not in remedies:
        return None
    return PointWarning(WarningKind.UNSETTLED, settled.evidence, remedies[settled.state])


def _littles_law(window: Evidence) -> PointWarning | None:
    if window.little is None or window.little.holds:
        return None
    return PointWarning(
        WarningKind.LITTLES_LAW,
        window.little.evidence,
        "measure longer; if it persists, report it: the load generator's own counts are wrong",
    )


def _generator_starved(window: Evidence) -> PointWarning | None:
    waited = max(0.0, min(1.0, window.generator_wanted) - window.generator_share)
    throttled = window.per_second(window.use.generator.throttled_s) or 0.0
    if throttled >= STALLED_SOME:
        return PointWarning(
            WarningKind.GENERATOR_STARVED,
            f"a CPU quota throttled the load generator for {throttled:.2f} s per second",
            QUOTA,
        )
    if waited < STALLED_SOME:
        return None
    return PointWarning(
        WarningKind.GENERATOR_STARVED,
        f"the load generator's threads waited {share(waited)} of the time for a core, "
        "and latencies include that",
        "end other programs, give the load generator cores of its own (taskset), or use another "
        "machine",
    )


def _answers_unread(window: Evidence) -> PointWarning | None:
    unread, service = (window.clocks[clock].percentiles for clock in (UNREAD, SERVICE))
    # With few samples, the highest percentile that is known is named.
    name = next((name for name in ("p99", "p90", "p50") if unread[name] is not None), "p99")
    waited, took = unread[name], service[name]
    if waited is None or not took or waited <= STALLED_SOME * took:
        return None
    return PointWarning(
        WarningKind.ANSWERS_UNREAD,
        f"the load generator read answers up to {format_ns(waited * 1e3)} late ({name}): "
        f"{share(waited / took)} of the {name} of the service time is its own",
        "use fewer users or more engine threads (--threads), or give the load generator cores of "
        "its own",
    )


def _generator_near_ceiling(window: Evidence) -> PointWarning | None:
    if window.generator_share < BUSY:
        return None
    return PointWarning(
        WarningKind.GENERATOR_NEAR_CEILING,
        f"the load generator's busiest thread was on a core "
        f"{share(window.generator_share)} of the time",
        MORE_LOAD,
    )


def _shared_cores(window: Evidence) -> PointWarning | None:
    if not window.all_cores_busy or window.busy is None:
        return None
    target = (window.use.target_cpu_s or 0.0) / window.seconds
    tester = window.use.generator.cpu_s / window.seconds
    n = len(window.use.machine.busy_per_core)
    message = (
        f"the {plural(n, 'core')} that target and load generator share "
        f"{'was' if n == 1 else 'were'} {share(window.busy)} busy: target {target:.2f}, "
        f"load generator {tester:.2f}, everything else {window.others_cores:.2f}"
    )
    if window.others_took_cores or window.others_cores >= STALLED_MOST * n:
        return PointWarning(
            WarningKind.NOISY_MACHINE, message, "end other programs, and measure again"
        )
    return PointWarning(
        WarningKind.SHARED_CORES,
        message,
        "pin target and load generator to cores of their own, or run the target on another machine",
    )


def _others_in_latency(window: Evidence) -> PointWarning | None:
    waited_us, latency_us = window.waited_for_others_us, window.clocks[LATENCY].mean
    if window.rate is None or not latency_us:
        return None
    if waited_us is None and window.others_took_cores:
        waited = "an operation waited for cores that other programs had, it is not known how long"
    elif waited_us is not None and waited_us > STALLED_SOME * latency_us:
        part = share(min(1.0, waited_us / latency_us))
        waited = (
            f"an operation waited {format_ns(waited_us * 1e3)} on average for cores that other "
            f"programs had, {part} of its latency"
        )
    else:
        return None
    return PointWarning(
        WarningKind.OTHERS_IN_LATENCY,
        f"{waited}: latencies are upper bounds (<=)",
        "end other programs, and measure again",
    )


def _timeouts(window: Evidence) -> PointWarning | None:
    timeouts = window.failures_by_kind.get(_TIMEOUT, 0)
    n = max(timeouts, window.clocks[CENSORED].n)
    if not n:
        return None
    # Failed operations with neither a timeout nor a wrong answer lost their connection.
    broken = min(window.failures - timeouts - window.clocks[WRONG].n, n - timeouts)
    return PointWarning(
        WarningKind.TIMEOUTS,
        f"{plural(n, 'operation')} {'had no whole answer' if broken > 0 else 'timed out'}; they "
        "count as the time that was waited for them, and a percentile among them is a lower "
        "bound (>=)",
        "see why their connections were lost"
        if broken == n
        else "use fewer users or a lower --rate, or raise the timeout (--timeout)",
    )


def _failures(window: Evidence) -> PointWarning | None:
    failures = {kind: n for kind, n in window.failures_by_kind.items() if kind != _TIMEOUT and n}
    if not failures:
        return None
    kinds = ", ".join(f"{kind} x {n:,}" for kind, n in sorted(failures.items()))
    kind = max(failures, key=failures.__getitem__)
    first = f"; the first {kind}: {window.examples[kind]}" if kind in window.examples else ""
    return PointWarning(
        WarningKind.FAILURES,
        f"{plural(sum(failures.values()), 'operation')} failed: {kinds}{first}",
        "failed requests can be faster than real ones: find out why they failed before you use the "
        "rate",
    )


def _schedule_lag(window: Evidence) -> PointWarning | None:
    late, mean = window.late_us, window.clocks[LATENCY].mean
    if window.rate is None or late is None or not mean or late < STALLED_SOME * mean:
        return None
    missed = "" if schedule_kept(window) else f", and {window.rate:,.0f}/s were not reached"
    return PointWarning(
        WarningKind.SCHEDULE_LAG,
        f"operations began {format_ns(late * 1e3)} late on average, "
        f"{share(late / mean)} of their latency{missed}",
        "see in which spans: the target was late there, too few users (--users) were free, or the "
        "load generator had no core"
        if window.has_stages
        else "use more users, so that one is free when an operation is due, or a lower --rate"
        if (window.busy_lanes or 0.0) >= STALLED_MOST * window.users
        else WOKE_LATE,
    )


def _ports(window: Evidence) -> PointWarning | None:
    """Warn that local ports run out, but not on loopback, where each lane has its own address."""
    waiting = window.use.machine.sockets.get("time_wait", 0)
    if (
        window.on_loopback
        or window.local_ports is None
        or waiting < _PORTS_LOW * window.local_ports
    ):
        return None
    return PointWarning(
        WarningKind.PORTS,
        f"{waiting:,} sockets of this machine are in TIME_WAIT, and it has "
        f"{window.local_ports:,} local ports for each address",
        "wait a minute, keep connections open, or widen net.ipv4.ip_local_port_range",
    )


def _swap(window: Evidence) -> PointWarning | None:
    pages = (window.use.machine.swapped_in or 0) + (window.use.machine.swapped_out or 0)
    if not pages:
        return None
    return PointWarning(
        WarningKind.SWAP,
        f"the load generator's machine swapped {plural(pages, 'page')}",
        "end other programs, or use a smaller size",
    )


def _stolen_time(window: Evidence) -> PointWarning | None:
    stolen = window.stolen_share(window.use.machine)
    if stolen < _STOLEN:
        return None
    return PointWarning(
        WarningKind.STOLEN_TIME,
        f"the hypervisor gave {share(stolen)} of this machine's cores to other guests",
        "measure on a machine of your own, or repeat (--repeats) and compare medians",
    )


def _too_short(window: Evidence) -> PointWarning | None:
    if window.settled is None or window.settled.state != Steadiness.TOO_SHORT:
        return None
    if window.pauses_s is not None:
        return PointWarning(
            WarningKind.TOO_SHORT,
            window.settled.evidence,
            f"warm up for longer: --warmup {format_duration(math.ceil(window.pauses_s))}",
        )
    return PointWarning(
        WarningKind.TOO_SHORT,
        f"too short to tell whether it was steady: {window.settled.evidence}",
        steady_remedy(window.seconds),
    )


def steady_remedy(seconds: float) -> str:
    """Return the remedy for a window that is too short to show a drift: a longer window."""
    return LONGER + format_duration(max(30, 2 * round(seconds, -1)))


def _too_few_samples(window: Evidence) -> PointWarning | None:
    latency = window.clocks[LATENCY]
    growing = window.settled is not None and window.settled.state == Steadiness.GROWING
    if latency.p99 is not None or growing:
        # While the queue grows, a longer window would not give a stable p99.
        return None
    remedy = "have longer stages, or more load in them"
    if not window.has_stages:
        needed_s = _P99_NEEDS * window.seconds / max(1, latency.n)
        remedy = LONGER + format_duration(10 * math.ceil(needed_s / 10))
    return PointWarning(
        WarningKind.TOO_FEW_SAMPLES,
        f"{plural(latency.n, 'sample is', 'samples are')} too few for a p99, which needs "
        f"{_P99_NEEDS:,}",
        remedy,
    )


def not_known(
    rule: Until, too_alike: Mapping[str, float], measured_s: float, *, used_up: bool = False
) -> PointWarning:
    """Warn that a window with `--until` ended before its percentile was known.

    `too_alike` has percentiles whose half seconds were correlated, with the length of a window that
    would be long enough. `measured_s` is below the limit if the percentile was known at the last
    check, but not at the end. `used_up` if the window ended because the users' data were used up.
    """
    name = rule.percentile.replace("_", ".")
    limit = format_duration(min(rule.limit_s, float(round(measured_s))))
    if used_up:
        return PointWarning(
            WarningKind.NOT_KNOWN,
            f"{name} was not known to {format_percent(rule.precision)} when the data were used up",
            "give the file more rows, or ask for less",
        )
    would_do_s = too_alike.get(rule.percentile)
    reason = "" if would_do_s is None else f": {too_alike_to_tell(would_do_s)}"
    return PointWarning(
        WarningKind.NOT_KNOWN,
        f"{name} was not known to {format_percent(rule.precision)} within {limit}{reason}",
        f"allow more time (--until '{name}:{format_percent(rule.precision)},1h'), or ask for less",
    )


def data_used_up(after_s: float, measured_s: float, asked_s: float, lost_rows: int) -> PointWarning:
    if lost_rows:
        return _rows_lost(
            f"no row was left after {after_s:.1f} s, and {lost_rows} of them were lost: "
            f"{measured_s:.1f} s of {asked_s:g} s were measured"
        )
    return PointWarning(
        WarningKind.DATA_USED_UP,
        f"data used up after {after_s:.1f} s: {measured_s:.1f} s of {asked_s:g} s were measured",
        "give the file more rows, measure for less time (--measure), or have rows come again "
        '(deal = "in-order")',
    )


def target_died(after_s: float, reason: str) -> PointWarning:
    return PointWarning(
        WarningKind.TARGET_DIED,
        f"the last answer came {after_s:.1f} s into the stages, and what was due after counts as "
        f"failed: {reason}",
        "see the target's log; what was measured until then is kept",
    )


def rows_held(waited_s: float) -> PointWarning:
    return PointWarning(
        WarningKind.ROWS_HELD,
        f"users waited {waited_s:.1f} s in all for a row that no other user had",
        "give the file more rows than there are users on a thread, or use fewer users (--users)",
    )


def rows_lost(count: int) -> PointWarning:
    return _rows_lost(
        f"{plural(count, 'row is', 'rows are')} lost since the start: "
        "a change was not answered and may yet be made, or a bind was refused or not answered and "
        "another try could lock the account; no other user got the row"
    )


def _rows_lost(message: str) -> PointWarning:
    remedy = "see why they failed (the failures, --timeout), or give the file more rows"
    return PointWarning(WarningKind.ROWS_LOST, message, remedy)


def _monitor_gaps(window: Evidence) -> PointWarning | None:
    for gap in window.use.gaps:
        missing = f"{gap.missing} of {gap.asked} answers are" if gap.asked else "every answer is"
        reason = f" ({gap.reason})" if gap.reason else ""
        return PointWarning(
            WarningKind.MONITOR_GAPS,
            f"{missing} missing from {gap.source}{reason}",
            "check its address and that it answers within a second",
        )
    if window.longest_drain_s is None or window.longest_drain_s < _LATE_DRAIN_S:
        return None
    return PointWarning(
        WarningKind.MONITOR_GAPS,
        f"samples were read {window.longest_drain_s:.1f} s late: the timelines have a gap there",
        "end other programs; rates and latencies are not affected",
    )


def _unwatched_target(window: Evidence) -> PointWarning | None:
    if window.use.target is not None or window.target_machine is not None:
        return None
    return PointWarning(
        WarningKind.UNWATCHED,
        "the target cannot be monitored from here, so its bottleneck is not known",
        "run sitebench as the user of the target's process, or as root"
        if window.on_loopback
        else "name a node_exporter on its machine (--monitor), or run it on this machine",
    )


def _hidden_cost(window: Evidence) -> PointWarning | None:
    """Warn that a large part of an operation's cost is not in the target's figures."""
    programs = window.use.behind
    behind_s = sum(program.cpu_s for program in programs)
    if behind_s < STALLED_SOME * ((window.use.target_cpu_s or 0.0) + behind_s) or not behind_s:
        return None
    cores = ", ".join(
        f"{program.name} {program.cpu_s / window.seconds:.2f} cores" for program in programs
    )
    return PointWarning(
        WarningKind.PROXIED,
        f"programs behind the target, which are not watched, used CPU: {cores}; what an operation "
        "costs the target is without that",
        "measure them at their own address to see what an operation costs them",
    )


_RULES: tuple[Callable[[Evidence], PointWarning | None], ...] = (
    *(_failures, _timeouts, _unsettled_window, _littles_law),
    _generator_starved,
    _answers_unread,
    _generator_near_ceiling,
    _shared_cores,
    _others_in_latency,
    _schedule_lag,
    _ports,
    _swap,
    _stolen_time,
    _too_short,
    _too_few_samples,
    _monitor_gaps,
    _unwatched_target,
    _hidden_cost,
)
