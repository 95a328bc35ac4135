"""The cells of the matrix: shapes x schedules x faults, as data, and their scenarios as text.

Every request's key is `OPERATION.STEP.USER.ITERATION` (`tests.truth.log`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

ANSWER_S = 0.1
USERS = 20
WINDOW_S = 3.0
TIMEOUT_S = 1.5
"""Longer than the stall and an answer together."""


@dataclass(frozen=True)
class Shape:
    """The work of users: the text of a scenario, for a directory and for a site."""

    name: str
    ldap: str
    http: str | None = None
    requests: int = 1
    pauses: Mapping[str, float] = field(default_factory=dict)
    """Think times within an operation, by the step after them."""
    at_a_time: int = USERS
    """The maximum of concurrent operations, by users, places or rows."""
    counts: str | None = None
    """The step that is counted instead of the whole operation."""
    waits: bool = False
    """Whether an operation's time includes a wait for a place on a shared connection."""
    waits_for_row: bool = False
    """Whether it waits for a row, which counts only in the time of an arrival."""
    wrong: bool = False
    """Whether every answer is wrong by the scenario's expectations."""

    @property
    def operation_s(self) -> float:
        return self.requests * ANSWER_S + sum(self.pauses.values())

    @property
    def capacity(self) -> float:
        return self.at_a_time / self.operation_s


def find(key: str, more: str = "", row: str = "", operation: str = "o") -> str:
    value = f"{operation}.{key}.{{user}}.{{iteration}}{row}"
    return f'{{ name = "{key}", search = "(uid={value})"{more} }}'


def ask(key: str, more: str = "") -> str:
    dn = f"uid=o.{key}.{{user}}.{{iteration}},o=truth"
    return f'{{ name = "{key}", compare = "{dn}", entry = {{ sn = "x" }}{more} }}'


def get(key: str, more: str = "", row: str = "") -> str:
    return f'{{ name = "{key}", get = "/o.{key}.{{user}}.{{iteration}}{row}"{more} }}'


def _operation(*steps: str, head: str = "", name: str = "o", weight: int = 1) -> str:
    listed = ",\n  ".join(steps)
    weighs = f"weight = {weight}\n" if weight > 1 else ""
    return f'{head}\n[[operation]]\nname = "{name}"\n{weighs}step = [\n  {listed},\n]\n'


_THINK = '{ think = "300ms", distribution = "constant" }'
_POOL = "connection.main.pool = 10\n"
_OUTSTANDING = "connection.main.outstanding = 4\n"
_PER_STEP = 'connection.main.per = "step"\n'
_COUNTS = '\n[[operation]]\nname = "o"\ncounts = "ask"\nstep = [\n  {},\n  {},\n]\n'
_ONCE = 'data.row = { range = [1, 100_000], deal = "once" }\n'
_EXCLUSIVE = 'data.row = { range = [1, 12], deal = "exclusive" }\n'
_START = "[start]\nstep = [{}]\n"
_CHANGE = (
    '{ name = "change", modify = "uid=o.change.{user}.{iteration},o=truth", '
    'change.replace.sn = "{row}" }'
)

SHAPES: Sequence[Shape] = (
    Shape("one step", _operation(find("find")), _operation(get("find"))),
    Shape(
        "two steps",
        _operation(find("find"), ask("ask")),
        _operation(get("find"), get("ask")),
        2,
    ),
    Shape(
        "think between",
        _operation(find("find"), _THINK, ask("ask")),
        _operation(get("find"), _THINK, get("ask")),
        2,
        {"ask": 0.3},
    ),
    Shape(
        "repeat",
        _operation(find("find"), f"{{ repeat = 3, step = [{ask('ask')}] }}"),
        _operation(get("find"), f"{{ repeat = 3, step = [{get('ask')}] }}"),
        4,
    ),
    Shape(
        "counts",
        _COUNTS.format(find("find"), ask("ask")),
        _COUNTS.format(get("find"), get("ask")),
        2,
        counts="ask",
    ),
    Shape(
        "capture",
        _operation(
            find("find", ', capture.token = "mail"'),
            '{ name = "ask", search = "(uid=o.ask.{user}.{iteration}.{token})" }',
        ),
        _operation(
            get("find", ", capture.token = { before = 'page=', until = ';' }"),
            '{ name = "ask", get = "/o.ask.{user}.{iteration}.{token}" }',
        ),
        2,
    ),
    Shape("pool", _operation(find("find"), head=_POOL), None, at_a_time=10, waits=True),
    Shape(
        "outstanding",
        _operation(find("find"), ask("ask"), head=_OUTSTANDING),
        None,
        2,
        waits=True,
    ),
    Shape(
        "connection per step",
        _operation(find("find"), ask("ask"), head=_PER_STEP),
        _operation(get("find"), get("ask"), head=_PER_STEP),
        2,
    ),
    Shape(
        "once",
        _operation(find("find", row=".{row}"), head=_ONCE),
        _operation(get("find", row=".{row}"), head=_ONCE),
    ),
    Shape(
        "exclusive",
        _operation(find("find", row=".{row}"), _CHANGE, head=_EXCLUSIVE),
        _operation(get("find", row=".{row}"), get("ask", row=".{row}"), head=_EXCLUSIVE),
        2,
        at_a_time=12,
        waits_for_row=True,
    ),
    Shape(
        "start",
        _START.format('{ name = "hello", search = "(uid=start.hello.{user}.0)" }')
        + _operation(find("find")),
        _START.format('{ name = "hello", get = "/start.hello.{user}.0" }')
        + _operation(get("find")),
    ),
)


@dataclass(frozen=True)
class Schedule:
    """The begin of operations: the lines of `[load]`."""

    name: str
    load: str
    rate: float = 0.0
    """The rate of arrivals as a share of the users' capacity."""
    users: int = USERS
    """0 if stages set the number of users."""
    stages: Sequence[tuple[float, float]] = ()
    """Seconds, and the share of the users' capacity at their end."""
    warmup_s: float = 0.5

    @property
    def arrives(self) -> bool:
        """Whether operations begin by arrivals."""
        return bool(self.rate or self.stages)

    def rate_of(self, shape: Shape) -> float:
        return round(self.rate * shape.capacity, 3)

    def stages_of(self, shape: Shape) -> Sequence[tuple[float, float]]:
        return [(seconds, round(share * shape.capacity)) for seconds, share in self.stages]

    def text(self, shape: Shape) -> str:
        stages = ", ".join(f'"{seconds:g}s:{rate}/s"' for seconds, rate in self.stages_of(shape))
        load = self.load.format(rate=self.rate_of(shape), stages=stages, window=f"{WINDOW_S:g}s")
        users = f"users = {self.users}\n" if self.users else ""
        return f'[load]\n{users}timeout = "{TIMEOUT_S * 1e3:g}ms"\n{load}\n'


_WINDOW = 'warmup = "500ms"\nmeasure = "{window}"\n'

SCHEDULES: Sequence[Schedule] = (
    Schedule("closed", _WINDOW),
    Schedule("closed with think", _WINDOW + 'think = "100ms"'),
    Schedule("even", _WINDOW + 'rate = {rate}\narrivals = "even"', 0.6),
    # Enough users that every arrival finds a free one: the log has no due times of other arrivals.
    Schedule("poisson", _WINDOW + 'rate = {rate}\narrivals = "poisson"', 0.3, 120),
    Schedule(
        "stages of rates",
        'stages = [{stages}]\narrivals = "even"',
        stages=((1.0, 0.8), (1.0, 0.8), (1.0, 0.2)),
        warmup_s=0.0,
    ),
    Schedule("stages of users", 'stages = ["1s:20", "1s:20", "1s:5"]', users=0, warmup_s=0.0),
)


@dataclass(frozen=True)
class Fault:
    """Actions of the server at fixed times of the window, besides answers."""

    name: str
    stall_s: tuple[float, float] | None = None
    """Seconds after the window's begin."""
    unanswered_every: int = 0
    reset_s: float | None = None


STALL_IN_THE_MIDDLE = Fault("stall in the middle", (1.0, 2.0), 97)
STALL_OVER_THE_END = Fault("stall over the end", (WINDOW_S - 0.5, WINDOW_S + 0.5))
LOST_ANSWERS = Fault("lost answers and a reset", None, 97, 0.7)
NO_FAULT = Fault("none")
FAULTS: Sequence[Fault] = (STALL_IN_THE_MIDDLE, STALL_OVER_THE_END, LOST_ANSWERS)


@dataclass(frozen=True)
class Cell:
    protocol: str
    shape: Shape
    schedule: Schedule
    fault: Fault
    threads: int = 1
    workers: int = 1
    """Load processes, each with its part of the rate and its own pool."""
    texts: tuple[str, ...] = ()
    """Scenarios in place of the shape's."""
    variant: str = ""

    def __str__(self) -> str:
        parts = (self.protocol, self.shape.name, self.schedule.name, self.fault.name, self.variant)
        return "-".join(filter(None, parts)).replace(" ", "-")

    @property
    def scenarios(self) -> Sequence[str]:
        """The texts of the scenarios; the first contains the load."""
        own = self.shape.ldap if self.protocol == "ldap" else self.shape.http
        first, *more = self.texts or (own or "",)
        # Keys of the top level come before any table.
        return [first.lstrip() + self.schedule.text(self.shape), *more]


def _matrix() -> Iterator[Cell]:
    """Combine every shape with every schedule, and each of both with every fault."""
    for row, shape in enumerate(SHAPES):
        for column, schedule in enumerate(SCHEDULES):
            yield Cell("ldap", shape, schedule, FAULTS[(row + column) % len(FAULTS)])
            if shape.http is not None and schedule.name in ("closed", "even"):
                yield Cell("http", shape, schedule, FAULTS[(row + column + 1) % len(FAULTS)])


NULL = Cell("ldap", SHAPES[0], SCHEDULES[0], NO_FAULT)
"""Measures the time that the load generator adds to a constant time."""

_CLOSED, _EVEN = SCHEDULES[0], SCHEDULES[2]
LONG_THINK = Shape(
    "think for longer than the timeout",
    _operation(find("find"), '{ think = "2s", distribution = "constant" }', ask("ask")),
    None,
    2,
    {"ask": 2.0},
)


def _of(name: str, *texts: str) -> Cell:
    # A low rate, so that a stall's delayed operations are made up for soon, even on a busy machine.
    schedule = _CLOSED if name.startswith("files") else replace(_EVEN, rate=0.3)
    threads = 2 if name.endswith("threads") else 1
    shape = Shape(name, texts[0])
    return Cell("ldap", shape, schedule, STALL_IN_THE_MIDDLE, threads, texts=texts)


_O, _P = find("find"), find("find", operation="p")
_ONE, _OTHER = _operation(_O), _operation(_P, name="p")

PAIRS: Sequence[tuple[Cell, Cell]] = (
    (_of("a step", _ONE), _of("a step and one of no time", _operation(_O, find("quick")))),
    (_of("files: one", _ONE + _OTHER), _of("files: two", _ONE, _OTHER)),
    (
        _of("weights of 3 and 1", _operation(_O, weight=3) + _OTHER),
        _of("weights of 6 and 2", _operation(_O, weight=6) + _operation(_P, name="p", weight=2)),
    ),
    (_of("a step", _ONE), _of("a step on two threads", _ONE)),
)
"""Cells whose differences must not change any figure."""

CELLS: Sequence[Cell] = (
    NULL,
    *_matrix(),
    Cell("ldap", LONG_THINK, _CLOSED, LOST_ANSWERS),
    Cell("ldap", LONG_THINK, _EVEN, LOST_ANSWERS),
    *{str(cell): cell for pair in PAIRS for cell in pair}.values(),
)
