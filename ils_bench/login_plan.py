"""`sitebench plan logins`: cores and memory to logins a second and gigabytes, and back.

CPU of a login = what it costs without its hash + work x what a piece of work costs, a line through
two points that were measured on this server: rounds, or of argon2 its passes or its memory. Memory
= the server at rest + passwords that are checked at once x what one check takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from ils_bench.hashes import MEMORY, Hashed
from ils_bench.login_costs import Cost, Server, server_of
from ils_bench.options import parse_hashes
from ils_bench.suite import SUITE
from sitebench.errors import BadInput, UnknownValue
from sitebench.frozen import frozen
from sitebench.options import option
from sitebench.plan.formula import Constant, Formula, IfAny, Input, Least
from sitebench.plan.model import MOST_CORES, Step
from sitebench.plan.options import CostPlanOptions
from sitebench.plan.suite import Calculation, CostAnswer, CostPlan, MeasuredRun
from sitebench.units import BYTES, format_rate, parse_in, parse_rate, plural

APART = 2.0
"""Nearer points have less between them than noise of some percent makes of it."""
STRETCH = 2.0
"""By what factor a plan may leave what was measured (method rule 11)."""
_NO_NUMBER = Constant(0.0) / Constant(0.0)
"""In the page and the workbook: what the command refuses."""
_MIB = 2.0**20
_NEGATIVE = 0.1
"""Share of the cheaper point that a login without its hash may cost less than nothing: noise."""


def _mebibytes(text: str) -> float:
    found = parse_in(text, BYTES)
    if found is None or found < _MIB:
        raise UnknownValue(f"{text!r} is no memory of a machine", "write mebibytes or more: 16g")
    return found / _MIB


@frozen
class LoginPlanOptions(CostPlanOptions):
    """Options of `sitebench plan logins`."""

    hash: tuple[str, ...] | None = option.parsed(
        None,
        "Hashes to plan with, at most twice beyond measured ones, separated by commas (default: "
        "the dearest measured one of each kind).",
        parse=parse_hashes,
        show=option.joined,
        metavar="LIST",
        panel="Load",
    )
    logins: float = option.parsed(
        100.0,
        "Logins a second to plan cores for.",
        parse=parse_rate,
        show=lambda rate: f"{rate:g}/s",
        metavar="RATE",
        panel="Load",
    )
    connections: int | None = option.count(
        None,
        "Passwords that are checked at once: connections that bind, and at most the server's "
        "threads (default: as measured).",
        panel="Load",
    )
    cores: int | None = option.count(
        None,
        "Cores of the server to plan for (default: those measured on).",
        at_most=MOST_CORES,
        panel="Target",
    )
    memory: float | None = option.parsed(
        None,
        "Memory of that machine, such as 16g (default: that measured on).",
        parse=_mebibytes,
        show=lambda mib: f"{mib:g}m",
        metavar="BYTES",
        panel="Target",
    )
    headroom: float = option.percent(
        0.0, "Share of the cores to leave free for peaks.", panel="Target"
    )


@frozen
class _Held:
    """The server's memory: at rest, and how many checks of a slow hash it holds at once."""

    rest_mib: float
    at_once: float | None = None


@frozen
class _Case:
    """One hash that is planned with, and the measured points that say what it costs."""

    hashed: Hashed
    points: Sequence[Cost]
    knob: str | None
    """What the points differ in; None of a hash that was measured itself, alone."""
    held: _Held | None
    at_once: int
    """Users that had their passwords checked at once, as far as the server has threads."""
    connections: float
    """The same to plan with."""

    @property
    def kept(self) -> float:
        """How many checks' memory the server's threads keep, whatever the connections; 0 if none.

        They do where there is more of it than checks that can have run.
        """
        held = (self.held and self.held.at_once) or 0.0
        return held if round(held) > self.at_once else 0.0

    @property
    def share(self) -> float:
        """How much memory each check has, of what one takes: not all have all of it at once."""
        held = self.held and self.held.at_once
        return 1.0 if not held or self.kept else held / self.at_once

    @property
    def bound(self) -> str:
        """How its rate is to be read."""
        points = _own(self.hashed, self.points)
        if any(each.at_most for each in points):
            return "at most"
        return "about" if any(each.about for each in points) else "measured"


def _own(hashed: Hashed, points: Sequence[Cost]) -> Sequence[Cost]:
    """Return the point of a hash that was measured itself, or both that its line is through."""
    return [each for each in points if each.hashed.text == hashed.text] or points


def answer(options: LoginPlanOptions, runs: Sequence[MeasuredRun]) -> CostAnswer:
    """Plan logins with these options."""
    server = server_of(runs, options.target, options.size)
    if options.headroom >= 1:
        raise BadInput("--headroom 100% leaves no core", "use 0% to less than 100%")
    cores = server.cores if options.cores is None else float(options.cores)
    if cores is None:
        raise BadInput(
            f"{server.name}: how many cores it has was not seen", "name them with --cores"
        )
    asked = options.hash or _dearest(server)
    cases = [_case(server, Hashed.of(each), options) for each in asked]
    made = [_calculation(each, options, server, cores) for each in cases]
    wanted = f"{format_rate(options.logins)} logins/s"
    return CostAnswer(
        title=f"Logins of {server.name}, {plural(server.size, 'person', 'people')}",
        columns=(
            "Hash",
            "CPU of a login",
            plural(cores, "core carries", "cores carry"),
            f"Cores for {wanted}",
            "Memory",
        ),
        rows=[_row(*each) for each in zip(cases, made, strict=True)],
        calculations=made,
        warnings=tuple(dict.fromkeys(_warnings(cases, made, options, server, cores))),
        figures={
            "server": server.name,
            "size": server.size,
            "answers": [_figures(*each) for each in zip(cases, made, strict=True)],
        },
    )


_NEEDED = {"measured": "", "about": "about ", "at most": "at least "}
"""How cores are read where a rate is read so."""


def _row(case: _Case, made: Calculation) -> Sequence[str]:
    values, gib = made.values, made.values.get("memory_gib")
    carried = "" if case.bound == "measured" else f"{case.bound} "
    return (
        case.hashed.text,
        f"{values['cpu_ms']:.3g} ms",
        f"{carried}{format_rate(values['carried_per_s'])}/s",
        f"{_NEEDED[case.bound]}{values['cores_needed']:.3g}",
        "n/a" if gib is None else _size(gib * 1024),
    )


def _figures(case: _Case, made: Calculation) -> Mapping[str, object]:
    return {
        "hash": case.hashed.text,
        "bound": case.bound,
        "cpu_ms": made.values["cpu_ms"],
        "logins_per_s": made.values["carried_per_s"],
        "cores": made.values["cores_needed"],
        "memory_gib": made.values.get("memory_gib"),
    }


def _dearest(server: Server) -> list[str]:
    """Return the dearest measured hash of each kind."""
    found: dict[str, Cost] = {}
    for each in server.costs.values():
        kept = found.setdefault(each.hashed.name, each)
        if each.cpu_ms > kept.cpu_ms:
            found[each.hashed.name] = each
    if not found:
        raise _left_out(server, next(iter(server.left_out)))
    return [each.hashed.text for each in found.values()]


def _left_out(server: Server, text: str) -> BadInput:
    why = server.left_out[text]
    return BadInput(f"{server.name}: {text} is left out, {why.message}", why.remedy)


def _measure(hashed: str) -> str:
    return (
        f"measure it there: sitebench {SUITE.name} sweep --operations login --hash {hashed}, with "
        "the run's --target and its other options"
    )


def _case(server: Server, hashed: Hashed, options: LoginPlanOptions) -> _Case:
    points, knob = _points(server, hashed)
    held = _held(server, hashed, points)
    at_once = max(each.users for each in _own(hashed, points))
    if held is not None and held.at_once is not None:
        at_once = min(at_once, max(1, round(held.at_once)))
    return _Case(hashed, points, knob, held, at_once, float(options.connections or at_once))


def _points(server: Server, hashed: Hashed) -> tuple[list[Cost], str | None]:
    """Return two measured points around a hash and what they differ in, or the hash's own."""
    alike = {
        knob: {
            each.hashed.knobs[knob]: each
            for each in server.costs.values()
            if each.hashed.name == hashed.name
            and all(each.hashed.knobs[k] == v for k, v in hashed.knobs.items() if k != knob)
        }
        for knob in hashed.knobs
    }
    own = hashed.text in server.costs
    for knob, found in alike.items():
        if (pair := _pair(list(found), hashed.knobs[knob], own=own)) is None:
            continue
        low, high = (found[work] for work in pair)
        if high.cpu_ms > low.cpu_ms:
            return [low, high], knob
        if not own:
            raise BadInput(
                f"{server.name}: {high.hashed.text} costs {high.cpu_ms:.3g} ms, no more than "
                f"{low.hashed.text} ({low.cpu_ms:.3g} ms)",
                "see what the server has stored, as it may hash passwords its own way; or "
                "measure longer",
            )
    if own:
        return [server.costs[hashed.text]], None
    raise _why_not(server, hashed, alike)


def _pair(measured: Sequence[float], asked: float, *, own: bool) -> tuple[float, float] | None:
    """Return the two that say most of what is asked: around it where there are such, and near.

    With `own`, what is asked was measured itself, and is one of them.
    """

    def worth(pair: tuple[float, float]) -> tuple[bool, float]:
        low, high = pair
        return not low <= asked <= high, sum(abs(math.log(each / asked)) for each in pair)

    usable = [
        (low, high)
        for low, high in permutations(measured, 2)
        if high >= APART * low and low / STRETCH <= asked <= STRETCH * high
        if not own or asked in (low, high)
    ]
    return min(usable, key=worth, default=None)


def _why_not(server: Server, hashed: Hashed, alike: dict[str, dict[float, Cost]]) -> BadInput:
    name, text = hashed.name, hashed.text
    known = [each for each in server.costs if Hashed.of(each).name == name]
    lost = [text] if text in server.left_out else []
    lost += [each for each in server.left_out if Hashed.of(each).name == name and not known]
    if lost:
        return _left_out(server, lost[0])
    if not known:
        there = ", ".join(server.costs) or "none that may be used"
        what = f"{name} was not measured; there are {there}"
    elif any(alike.values()):
        what = _too_little(hashed, *max(alike.items(), key=lambda pair: len(pair[1])))
    else:
        what = f"{text} differs from {' and '.join(known)} in more than one number"
    return BadInput(f"{server.name}: {what}", _measure(text))


def _too_little(hashed: Hashed, knob: str, found: dict[float, Cost]) -> str:
    """Return why points that differ in one number do not say what is asked."""
    asked, low, high = hashed.knobs[knob], min(found), max(found)
    if low == high:
        return (
            f"{hashed.name} was measured with {_number(low)} {knob} alone, and a plan for others "
            "takes a second measurement"
        )
    if high < APART * low:
        return (
            f"{_number(low)} and {_number(high)} {knob} of {hashed.name} are too near to tell what "
            f"others cost: less than {APART:g} times apart"
        )
    times = asked / high if asked > high else low / asked
    return (
        f"{_number(asked)} {knob} are {times:.3g} times beyond what was measured, {_number(low)} "
        f"to {_number(high)}, and a plan goes no further than {STRETCH:g} times"
    )


def _number(number: float) -> str:
    return f"{number:,.10g}"


def _held(server: Server, hashed: Hashed, points: Sequence[Cost]) -> _Held | None:
    """Return the server's memory; None where points do not tell it apart."""
    if hashed.memory_mib is None:
        return None
    peaks = [
        each
        for each in server.costs.values()
        if each.peak_mib and each.hashed.memory_mib is not None
    ]
    if not hashed.memory_mib:
        own = [each.peak_mib for each in points if each.peak_mib]
        return _Held(max(own)) if own else None
    quick = [each for each in peaks if not each.hashed.memory_mib]
    slow = [each for each in peaks if each.hashed.memory_mib]
    if not slow:
        return None

    # Small memory is kept, large memory is given back: of the sizes around it that which has more.
    below = [each for each in slow if _check_mib(each) <= hashed.memory_mib]
    above = [each for each in slow if _check_mib(each) >= hashed.memory_mib]
    near = [max(below, key=lambda each: (_check_mib(each), each in points))] if below else []
    near += [min(above, key=lambda each: (_check_mib(each), each not in points))] if above else []
    found = filter(None, (_told_apart(each, quick, slow) for each in near))
    return max(found, key=lambda each: each.at_once or 0.0, default=None)


def _told_apart(high: Cost, quick: Sequence[Cost], slow: Sequence[Cost]) -> _Held | None:
    """Return what the peaks of a slow hash and of a quicker one say; None if that is nothing."""
    low = min(quick, key=lambda each: each.peak_mib or 0.0, default=None) or next(
        _lesser(slow, high), None
    )
    if low is None:
        return None
    assert high.peak_mib is not None
    assert low.peak_mib is not None
    less = _check_mib(low)
    at_once = (high.peak_mib - low.peak_mib) / (_check_mib(high) - less)
    rest = low.peak_mib - at_once * less
    return _Held(rest, at_once) if at_once > 0 and rest > 0 else None


def _check_mib(each: Cost) -> float:
    return each.hashed.memory_mib or 0.0


def _lesser(slow: Sequence[Cost], high: Cost) -> Iterator[Cost]:
    """Yield others that take another amount of memory, with as many users."""
    for each in slow:
        mine, its = _check_mib(each), _check_mib(high)
        if each.users == high.users and max(mine, its) >= APART * min(mine, its):
            yield each


def _calculation(
    case: _Case, options: LoginPlanOptions, server: Server, cores: float
) -> Calculation:
    inputs: dict[str, tuple[str, float]] = {}
    steps: list[Step] = []
    if case.knob is None:
        (point,) = case.points
        inputs["cpu_ms"] = (
            f"CPU of a login with {point.hashed.text}, measured, in ms",
            _rounded(point.cpu_ms),
        )
    else:
        more, line = _line(case, case.knob)
        _assure_cost(case, Calculation("", more, line), server)
        inputs |= more
        steps += line
    inputs |= {
        "cores": ("Cores of the server", cores),
        "headroom": ("Share of them that is left free", options.headroom),
        "logins_per_s": ("Logins a second to plan cores for", options.logins),
        "connections": ("Passwords that are checked at once", case.connections),
    }
    spare, cpu_s = 1 - Input("headroom"), Input("cpu_ms") / 1000
    steps += [
        Step(
            "busy_cores",
            "cores that check passwords: one for each at most",
            "cores",
            Least(Input("cores") * spare, Input("connections")),
        ),
        Step(
            "carried_per_s", "logins a second that they carry", "1/s", Input("busy_cores") / cpu_s
        ),
        Step(
            "cores_needed",
            "cores that the logins to plan for take",
            "cores",
            Input("logins_per_s") * cpu_s / spare,
        ),
    ]
    if case.held is not None:
        more, memory = _memory(case, case.held, options, server)
        inputs |= more
        steps += memory
    else:
        _assure_room(case, 0.0, options, server)
    return Calculation(f"Logins with {case.hashed.text}", inputs, steps, _notes(case))


def _rounded(number: float) -> float:
    """Return a measured number with as many digits as may mean something."""
    return float(f"{number:.5g}")


def _line(case: _Case, knob: str) -> tuple[dict[str, tuple[str, float]], list[Step]]:
    low, high = case.points
    work, least, most = Input("work"), Input("low"), Input("high")
    inputs = {
        "work": (f"{knob[0].upper()}{knob[1:]} to plan with", case.hashed.knobs[knob]),
        "low": (f"Fewer {knob}, measured", low.hashed.knobs[knob]),
        "low_ms": ("CPU of a login with these, in ms", _rounded(low.cpu_ms)),
        "high": (f"More {knob}, measured", high.hashed.knobs[knob]),
        "high_ms": ("CPU of a login with those, in ms", _rounded(high.cpu_ms)),
    }
    cost: Formula = Input("without_ms") + work * Input("each_ms")
    cost = IfAny(cost, cost, _NO_NUMBER)
    cost = IfAny(least - work * STRETCH, _NO_NUMBER, cost)
    return inputs, [
        Step(
            "each_ms",
            f"CPU of each of the {knob}",
            "ms",
            (Input("high_ms") - Input("low_ms")) / (most - least),
        ),
        Step(
            "without_ms",
            "CPU of a login without its hash",
            "ms",
            Input("low_ms") - least * Input("each_ms"),
        ),
        Step(
            "cpu_ms",
            f"CPU of a login, from half the least to {STRETCH:g} times the most measured",
            "ms",
            IfAny(work - most * STRETCH, _NO_NUMBER, cost),
        ),
    ]


def _assure_cost(case: _Case, line: Calculation, server: Server) -> None:
    """Raise where a line ends below nothing: its points are of noise, or of two hashes."""
    try:
        assert line.values
    except ZeroDivisionError:
        low, high = (each.hashed.text for each in case.points)
        text = case.hashed.text
        raise BadInput(
            f"{server.name}: by the line through {low} and {high} {text} would cost nothing",
            _measure(text),
        ) from None


def _memory(
    case: _Case, held: _Held, options: LoginPlanOptions, server: Server
) -> tuple[dict[str, tuple[str, float]], list[Step]]:
    _assure_room(case, held.rest_mib, options, server)
    inputs = {"rest_mib": ("MiB of the server at rest, measured", _rounded(held.rest_mib))}
    if not case.hashed.memory_mib:
        total: Formula = Input("rest_mib")
    else:
        each = Input("work" if case.knob == MEMORY else "hash_mib")
        if case.knob != MEMORY:
            inputs["hash_mib"] = ("MiB that checking one takes", case.hashed.memory_mib)
        connections: Formula = Input("connections")
        if case.kept:
            what = "Checks whose memory the server's threads keep, measured"
            inputs["kept"] = (what, _rounded(case.kept))
            checks: Formula = IfAny(connections - Input("kept"), connections, Input("kept"))
        else:
            inputs["share"] = ("Of these what a check has, measured", _rounded(case.share))
            checks = connections * Input("share")
        total = Input("rest_mib") + checks * each
    return inputs, [Step("memory_gib", "memory of the server", "GiB", total / 1024)]


def _assure_room(case: _Case, rest_mib: float, options: LoginPlanOptions, server: Server) -> None:
    """Raise where the checks that run at once take more memory than there is."""
    there = server.memory_mib if options.memory is None else options.memory
    each = (case.hashed.memory_mib or 0.0) * case.share
    most = max(case.connections, case.kept)
    if there is None or (needed := rest_mib + most * each) <= there:
        return
    fit = math.floor((there - rest_mib) / each) if each else 0
    fewer = f"plan with --connections {fit}, which fit; or " if fit >= max(1, case.kept) else ""
    checks = f"{plural(round(most), 'check')} at once of {case.hashed.text}"
    raise BadInput(
        f"{server.name}: the server takes {_size(needed)}{f' with {checks}' if each else ''}, and "
        f"its machine has {_size(there)}",
        f"{fewer}name a machine with more: --memory {math.ceil(needed / 1024)}g",
    )


def _size(mib: float) -> str:
    return f"{mib / 1024:,.3g} GiB" if mib >= 1024 else f"{mib:.3g} MiB"


def _notes(case: _Case) -> Sequence[str]:
    from_what = " and ".join(each.hashed.text for each in case.points)
    users = plural(case.points[-1].users, "user")
    found = [f"From {from_what}, measured on this server with {users}."]
    if case.held is not None and case.hashed.memory_mib:
        found.append("Memory of other programs on the machine comes on top.")
    return found


def _warnings(
    cases: Sequence[_Case],
    made: Sequence[Calculation],
    options: LoginPlanOptions,
    server: Server,
    cores: float,
) -> Iterator[str]:
    yield from _of_points([point for case in cases for point in case.points])
    for case, calculation in zip(cases, made, strict=True):
        yield from _of_line(case, calculation)
        yield from _of_memory(case)
        if (spare := cores * (1 - options.headroom)) > case.connections:
            yield (
                f"{case.hashed.text}: of {spare:g} cores no more than {case.connections:,.0f} are "
                "busy, as no more passwords are checked at once: --connections says how many"
            )
        checks = calculation.values["cores_needed"] * (1 - options.headroom)
        if checks > case.connections:
            yield (
                f"{case.hashed.text}: {format_rate(options.logins)} logins/s keep {checks:.3g} "
                f"checks running, more than the {case.connections:,.0f} that are made at once"
            )
    if server.cores is not None and cores != server.cores:
        yield (
            f"{plural(cores, 'core is', 'cores are')} assumed to do what {server.cores:g} did, "
            "each: more threads may wait for each other, and other processors are faster or slower"
        )
    if options.headroom == 0:
        yield "no headroom for peaks: --headroom 30% leaves some"


def _of_points(points: Sequence[Cost]) -> Iterator[str]:
    idle = [f"{each.hashed.text} at {each.about}" for each in points if each.about]
    if idle:
        yield (
            f"the server's CPU was not used up ({'; '.join(dict.fromkeys(idle))}): with idle cores "
            "a login may cost otherwise; measure with more users, and nothing beside it"
        )
    for each in points:
        if each.at_most is not None:
            yield f"{each.hashed.text}: {each.at_most}: more cores may carry no more logins"
        yield from (f"{each.hashed.text}: {warning}" for warning in each.warnings)


def _of_line(case: _Case, calculation: Calculation) -> Iterator[str]:
    without_ms = calculation.values.get("without_ms", 0.0)
    if without_ms < -_NEGATIVE * case.points[0].cpu_ms:
        yield (
            f"{case.hashed.text}: by its line a login without the hash would cost "
            f"{without_ms:.3g} ms, so the points are noisy: measure longer, with --repeats"
        )


def _of_memory(case: _Case) -> Iterator[str]:
    text = case.hashed.text
    if case.hashed.memory_mib is None:
        yield f"{text}: which hash it is, and the memory that it takes, only the server knows"
    elif case.held is None:
        yield (
            f"{text}: its memory is not told apart from the server's: measure ssha, then this "
            "hash, on a server that was just begun"
        )
    elif case.hashed.memory_mib and case.connections > case.at_once:
        yield (
            f"{text}: {plural(case.at_once, 'check was', 'checks were')} made at once of "
            f"{plural(case.points[-1].users, 'user')}, and {case.connections:,.0f} are planned with"
        )


LOGINS = CostPlan(
    name="logins",
    help="""Plan a directory's logins: from hashes measured on it, cores and memory for others.

    sitebench plan logins run.sitebench

    sitebench plan logins run.sitebench --hash pbkdf2-sha256:600000 --logins 500/s --headroom 30%

    sitebench plan logins run.sitebench --hash argon2:64m --cores 4 --memory 16g --connections 64
    """,
    options=LoginPlanOptions,
    answer=answer,
)
"""What the planner makes of logins."""
