"""Cells for keys that change figures and are in no shape of the matrix, as data."""

from __future__ import annotations

from collections.abc import Sequence

from tests.truth.cells import FAULTS, SCHEDULES, Cell, Schedule, Shape, ask, find, get

_CLOSED, _THINKING, _EVEN = SCHEDULES[:3]
STALL_IN_THE_MIDDLE, _, LOST_ANSWERS = FAULTS
_WINDOW = 'warmup = "500ms"\nmeasure = "3s"\n'


def _shape(
    name: str, *steps: str, head: str = "", more: str = "", requests: int = 2, wrong: bool = False
) -> Shape:
    listed = ",\n  ".join(steps)
    text = f'{head}\n[[operation]]\nname = "o"\n{more}step = [\n  {listed},\n]\n'
    return Shape(name, text, text, requests, wrong=wrong)


RIGHT = _shape(
    "expected answers",
    find(
        "find", ', expect.entries = 1, capture.note = { attribute = "nothing", default = "none" }'
    ),
    ask("ask", ', expect.result = "compareTrue"'),
    find("again", row=".{note}"),
    requests=3,
)
WRONG_ENTRIES = _shape(
    "two entries expected", find("find", ", expect.entries = 2"), requests=1, wrong=True
)
WRONG_RESULT = _shape(
    "false expected", ask("ask", ', expect.result = "compareFalse"'), requests=1, wrong=True
)
WRONG_STATUS = _shape("404 expected", get("find", ", expect.status = 404"), requests=1, wrong=True)
UNBIND = _shape("unbind", find("find"), '{ unbind = "main" }', requests=1)
TWO_CONNECTIONS = _shape(
    "a step on another connection",
    find("find"),
    ask("ask", ', on = "second"'),
    head="[connection.second]\n",
)
ANOTHER = _shape(
    "an operation on another connection",
    find("find"),
    ask("ask"),
    head="[connection.second]\n",
    more='on = "second"\n',
)
BIND = _shape("bind", find("find"), head='connection.main.bind = ""\n', requests=1)
LOGIN = _shape(
    "login",
    find("find"),
    '{ name = "login", bind = "uid=o.login.{user}.{iteration},o=truth", password = "{row}" }',
    head="data.row = { range = [1, 1_000] }\n",
)
OF_USER = _shape(
    "a row for each user",
    find("find", row=".{row}"),
    head='data.row = { range = [1, 1_000], per = "user" }\n',
    requests=1,
)
HTTP_1_0 = _shape("http 1.0", get("find"), get("ask"), head='connection.main.http = "1.0"\n')

SESSION = Cell(
    "ldap",
    Shape(
        "session",
        _shape("", find("find"), '{ think = "300ms", distribution = "constant" }', ask("ask")).ldap,
        None,
        2,
        {"ask": 0.8},
    ),
    Schedule("a session of 0.8 s", _WINDOW + 'session = "800ms"'),
    LOST_ANSWERS,
)
CLIENTS = Cell(
    "ldap",
    Shape("clients", _shape("", find("find")).ldap),
    Schedule("clients of a sweep", _WINDOW + "clients = [20]", users=0),
    STALL_IN_THE_MIDDLE,
)
MIXED = Cell(
    "ldap",
    Shape(
        "mixed",
        """
[[operation]]
name = "o"
weight = 3
objective = "max<900ms"
step = [
  { name = "find", search = "(uid=o.find.{user}.{iteration})" },
  { think = "100ms", distribution = "constant" },
  { name = "ask", compare = "uid=o.ask.{user}.{iteration},o=truth", entry = { sn = "x" } },
]

[[operation]]
name = "p"
search = "(uid=p.search.{user}.{iteration})"
""",
        None,
        2,
        {"ask": 0.1},
    ),
    Schedule("think", _WINDOW + 'think = "50ms"\nobjective = "failures<0.1%"'),
    STALL_IN_THE_MIDDLE,
)


def _each(protocol: str, *shapes: Shape) -> Sequence[Cell]:
    schedules: Sequence[Schedule] = (_CLOSED, _EVEN)
    return [
        Cell(protocol, shape, schedule, FAULTS[(row + column) % len(FAULTS)])
        for row, shape in enumerate(shapes)
        for column, schedule in enumerate(schedules)
    ]


KEY_CELLS = (
    *_each("ldap", RIGHT, UNBIND, TWO_CONNECTIONS, ANOTHER, BIND, LOGIN, OF_USER),
    *_each("http", HTTP_1_0),
    Cell("ldap", WRONG_ENTRIES, _THINKING, LOST_ANSWERS),
    Cell("ldap", WRONG_RESULT, _EVEN, LOST_ANSWERS),
    Cell("http", WRONG_STATUS, _THINKING, LOST_ANSWERS),
)
"""Cells that use the engine directly; each shape with right answers occurs with users and with
arrivals.
"""
