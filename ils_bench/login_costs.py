"""What logins cost a directory, from run files: CPU and memory of each hash, on one server.

The same hash costs three times as much in another server on the same machine, so that costs of two
servers are never one plan's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ils_bench.hashes import AS_STORED, Hashed
from ils_bench.logins import LOGIN
from ils_bench.suite import SUITE
from ils_bench.targets.opening import OWN_TARGETS
from sitebench.counts.metrics import LATENCY
from sitebench.errors import BadInput
from sitebench.frozen import frozen
from sitebench.plan.measured import target_key, target_names
from sitebench.plan.suite import MeasuredRun
from sitebench.runs.point import MOST_FAILURES, PointResult, PointSpec
from sitebench.runs.repeats import Series, series
from sitebench.seeders import HASHES
from sitebench.targets.limits import Limits
from sitebench.units import format_bytes, format_rate, format_size, plural
from sitebench.verdict.verdict import Bound, Quoted

_MIB = 2.0**20
_OF_PASSWORDS = frozenset(("hash", "hash_pool"))
"""Settings in which points of one server differ here."""
_UNDER_WAY = 0.1
"""Share of the logins of a window that may be under way at its edges, half done: their CPU is a
part of it."""
_BESIDE_CPU = frozenset((Bound.TARGET_CPU, Bound.GENERATOR, Bound.SCHEDULE, Bound.UNDECIDED))
"""Bounds by which no other resource of the server was used up."""


@frozen
class Cost:
    """What logins with one hash cost, as the median over repeats."""

    hashed: Hashed
    cpu_ms: float
    peak_mib: float | None
    """Resident memory of the server at most, since it began."""
    users: int
    about: str | None = None
    """Its rate, and what was the limit there, if nothing of the server was."""
    at_most: str | None = None
    """What of the server was the limit in place of its CPU, if that was so."""
    warnings: tuple[str, ...] = ()


@frozen
class Server:
    """One server at one size, and its costs by hash."""

    name: str
    size: int
    cores: float | None
    memory_mib: float | None
    costs: Mapping[str, Cost]
    left_out: Mapping[str, BadInput]
    """By hash, why its points are of no use."""


def server_of(runs: Sequence[MeasuredRun], target: str | None, size: int | None) -> Server:
    """Return the server that runs have measured logins on, chosen by target and size."""
    names = ", ".join(run.name for run in runs)
    found = [each for run in runs for each in run.results if _is_login(each.spec)]
    if not found:
        raise BadInput(
            f"{names}: no finished point of logins",
            f"measure some: sitebench {SUITE.name} sweep --operations {LOGIN} --target ... "
            "--hash ssha,pbkdf2-sha256:100000,pbkdf2-sha256:600000",
        )
    groups: dict[tuple[str, ...], list[PointResult]] = {}
    for each in found:
        groups.setdefault(target_key(each.spec, _OF_PASSWORDS), []).append(each)
    by_name = {name: groups[key] for key, name in target_names(list(groups)).items()}
    name = _chosen(by_name, target, "--target", names)
    by_size: dict[str, list[PointResult]] = {}
    for each in by_name[name]:
        by_size.setdefault(format_size(each.spec.entries), []).append(each)
    at = _chosen(by_size, None if size is None else format_size(size), "--size", names)
    results = by_size[at]
    _assure_one_server(runs, {each.spec.key for each in results})
    costs: dict[str, Cost] = {}
    left_out: dict[str, BadInput] = {}
    for text, tried in _by_hash(series(results)).items():
        whys = [_unusable(each) for each in tried]
        usable = [each for each, why in zip(tried, whys, strict=True) if why is None]
        if usable:
            best = max(usable, key=lambda each: each.median(lambda r: r.ops_per_s) or 0.0)
            costs[text] = _cost(text, best)
        elif (why := whys[0]) is not None:
            left_out[text] = why
    last = results[-1]
    cores, memory = _machine(next(run for run in runs if last in run.results), last)
    return Server(name, results[0].spec.entries, cores, memory, costs, left_out)


def _is_login(spec: PointSpec) -> bool:
    ours = (spec.suite, spec.operation) == (SUITE.name, LOGIN) and not spec.settings.get("scenario")
    # The mean of stages is no load that a server was under.
    return ours and spec.stages is None


def _chosen(
    found: Mapping[str, Sequence[PointResult]], wanted: str | None, option: str, names: str
) -> str:
    if wanted is None and len(found) == 1:
        return next(iter(found))
    if wanted is None or wanted not in found:
        kind = option.removeprefix("--")
        what = f"no {kind} {wanted}" if wanted else f"more than one {kind}, each with its own costs"
        raise BadInput(
            f"{names}: among its logins there is {what}",
            f"choose one with {option}: {'; '.join(found)}",
        )
    return wanted


def _assure_one_server(runs: Sequence[MeasuredRun], keys: set[str]) -> None:
    """Raise where points are of other machines, or of other versions of the server."""
    seen: dict[str, str] = {}
    for run in runs:
        mine = [each for each in run.results if each.spec.key in keys]
        for each in mine:
            if each.use.target is None and each.use.target_machine is None:
                continue  # Nothing of the server was seen: it is left out.
            cores, memory = _machine(run, each)
            machine = [] if cores is None else [plural(cores, "core")]
            machine += [] if memory is None else [format_bytes(memory * _MIB)]
            for model in _models(run) if each.use.target_is_local else [""]:
                for version in _versions(run, each.spec.target) or [""]:
                    known = ", ".join(filter(None, [model, *machine, version]))
                    seen.setdefault(known, run.name)
    if len(seen) > 1:
        (one, first), (other, second) = list(seen.items())[:2]
        both = f"{first} has" if first == second else f"{first} and {second} have"
        raise BadInput(
            f"{both} two servers: {one}; and {other}",
            "the same hash costs otherwise in another: plan from runs of one of them",
        )


def _models(run: MeasuredRun) -> list[str]:
    """Return the processors of the machines that a run went on upon."""
    known = [run.manifest, *run.manifest.get("earlier", ())]
    found = [(each.get("cpu") or {}).get("model") for each in known]
    return list(dict.fromkeys(str(each) for each in found if each)) or [str(None)]


def _versions(run: MeasuredRun, target: str) -> list[str]:
    """Return the versions of a target in a run; one of the user's has no name of its own there."""
    facts = run.manifest.get("targets", ())
    own = [each for each in facts if each.get("name") == target]
    others = {each.spec.target for each in run.results}
    mine = own or [each for each in facts if each.get("name") not in others]
    found = [each.get("version") or each.get("vendorVersion") for each in mine]
    known = sorted({str(each) for each in found if each})
    # Of two addresses of the user's it is not known which has which.
    return known if own else [*filter(None, [", ".join(known)])]


def _machine(run: MeasuredRun, result: PointResult) -> tuple[float | None, float | None]:
    """Return the server's cores, and its machine's memory in MiB or what it may have of that.

    None is what was not seen.
    """
    use = result.use
    machine = use.target_machine or (use.machine if use.target_is_local else None)
    if machine is None:
        return None, None
    cores = [float(len(machine.busy_per_core))]
    if (target := use.target) is not None:
        cores += [] if target.quota_cores is None else [target.quota_cores]
        cores += [] if target.allowed_cores is None else [float(len(target.allowed_cores))]
    memory = [machine.total_bytes]
    if result.spec.target in OWN_TARGETS:
        # It is in the control groups of the command that started it, and in one of its own.
        memory.append((run.manifest.get("limits") or {}).get("group_memory_bytes"))
        memory.append(Limits.parse(result.spec.settings.get("target_limits", "")).memory)
    least = min(filter(None, memory), default=None)
    return min(cores) or None, None if least is None else least / _MIB


def _by_hash(found: Iterable[Series]) -> dict[str, list[Series]]:
    groups: dict[str, list[Series]] = {}
    for each in found:
        settings = each.spec.settings
        hidden = settings.get("accounts") or settings.get("profile") == "ad"
        text = AS_STORED if hidden else settings.get("hash") or HASHES[0]
        groups.setdefault(text, []).append(each)
    return groups


def _unusable(each: Series) -> BadInput | None:
    """Return why the costs of a point are not those of its hash, if they are not."""
    for result in each.results:
        verdict = result.verdict
        for warning in verdict.warnings:
            if warning.kind == "login-rehashes":
                return BadInput(warning.message, warning.remedy)
            if warning.kind == "login-writes" and verdict.bound not in _BESIDE_CPU:
                return BadInput(
                    f"{warning.message}, and {verdict.bound} was the limit, not its CPU",
                    "a plan of CPU says nothing of that: switch the writes off, or measure the "
                    "rate itself with `peak`",
                )
        if result.fails_too_often:
            return BadInput(
                f"{result.failures:,} of its logins failed, more than {MOST_FAILURES * 100:g} %",
                "see why, or measure with fewer users",
            )
        if verdict.grade == Quoted.NOT_USABLE:
            return BadInput(f"{verdict.bound}: {verdict.evidence}", "measure it again")
        # The kernel counts in ticks: of a short window there may be none.
        if result.demand is None or not result.demand.cpu_us:
            return BadInput(
                "the CPU of its server was not seen",
                "measure on the server's machine, as its user or root, or have `sitebench "
                "monitor` run there and name it with --monitor",
            )
    return None


def _cost(text: str, each: Series) -> Cost:
    def cpu_ms(result: PointResult) -> float | None:
        return None if result.demand is None else (result.demand.cpu_us or 0.0) / 1e3

    def peak_mib(result: PointResult) -> float | None:
        peak = None if result.use.target is None else result.use.target.peak_rss
        return None if peak is None else peak / _MIB

    bounds = [result.verdict.bound for result in each.results]
    others = [bound for bound in bounds if bound not in _BESIDE_CPU]
    idle = [bound for bound in bounds if bound != Bound.TARGET_CPU]
    rate = format_rate(each.median(lambda result: result.ops_per_s) or 0.0)
    warnings = [
        w.message for r in each.results for w in r.verdict.warnings if w.kind == "login-writes"
    ]
    if each.failures:
        warnings.append(f"{plural(each.failures, 'login')} failed")
    # Of repeats each has edges: more of them are no longer windows.
    least = max(each.results, key=lambda result: _under_way(result) / result.operations)
    under_way, done = _under_way(least), least.operations
    if under_way > _UNDER_WAY * done:
        warnings.append(
            f"{under_way:,.0f} logins were under way at the edges of the window, and {done:,} "
            f"ended in it: its cost may be {under_way / done:.0%} off; measure longer"
        )
    cpu = each.median(cpu_ms)
    assert cpu is not None
    return Cost(
        Hashed.of(text),
        cpu,
        each.median(peak_mib),
        each.spec.users,
        f"{rate}/s, {idle[0]}" if idle and not others else None,
        f"{others[0]} was the limit at {rate}/s" if others else None,
        tuple(dict.fromkeys(warnings)),
    )


def _under_way(result: PointResult) -> float:
    """Return how many logins were under way at once: of a rate, no more than Little's law has."""
    mean_us = result.clocks[LATENCY].mean
    if result.spec.rate is None or mean_us is None:
        return result.spec.users
    return min(result.spec.users, result.ops_per_s * mean_us / 1e6)
