"""What a long run consists of: everything that allocates, keeps and throws away.

Lookups at full rate, most of all; lanes that connect and leave again and again; people who are
added and forgotten, and expire; who register, change, are refreshed and leave; and who are kept
online by refreshes and expire after that.
"""

from __future__ import annotations

from ils_bench import sequences
from ils_bench.sequences import Add, Bind, Connect, Refresh, Repeat, Sequence, Unbind
from sitebench.scenario.script import Script

PROFILE = "ils"
"""The one whose people are dynamic: who registers expires unless refreshed."""

LIFE_S = 5
PROLONGED_S = 10
"""How long who registers stays, and who is refreshed: long for a step of a lane and short beside
any run, so that those who come and those who expire are level when the measured window begins."""

SETTLED_S = 1.5 * PROLONGED_S

RING = 10**12
"""So many people that none is ever added twice: then an Add deletes no one, and every person who
goes has left by a step of a lane or has expired."""

PROLONG = Sequence(
    "prolong",
    (
        Connect(),
        Bind(),
        Repeat(100, (Add(name="enter"), Refresh(PROLONGED_S, name="prolong"))),
        Unbind(),
    ),
    counts="sequence",
).script(PROFILE)

USERS: dict[str, tuple[Script, int]] = {
    "LookupUser": (sequences.LOOKUP, 12),
    "ConnectUser": (sequences.CONNECT, 1),
    "AddUser": (sequences.ADD, 1),
    "RegisterUser": (sequences.built_in("register", PROFILE), 1),
    "ProlongUser": (PROLONG, 1),
}
"""What lanes do, by the class of benches/soak/locustfile.py, and how many of sixteen do it."""


def _kinds(script: Script) -> dict[str, str]:
    [operation] = script.facts["operations"]
    rows = {step["name"]: step["verb"] for step in operation["steps"]}
    if operation["is_step"]:
        rows = dict.fromkeys((operation["name"],), *rows.values())
    return {"connect": "connect", "bind": "bind", **rows, "unbind": "unbind"}


STEPS = {program.name: _kinds(program) for program, _ in USERS.values()}
"""Of each sequence its steps, and what kind of step each is."""
