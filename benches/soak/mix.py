"""The mix of a long run: all operations that allocate, keep and release memory.

Mostly lookups at full rate; lanes that connect and disconnect repeatedly; people who are
added and expire; people who register, change, are refreshed and leave; and people who stay
online by refreshes and expire after that.
"""

from __future__ import annotations

from ils_bench import sequences
from ils_bench.sequences import Add, Bind, Connect, Refresh, Repeat, Sequence, Unbind
from sitebench.scenario.script import Script

PROFILE = "ils"
"""The profile with dynamic people: a registered person expires unless refreshed."""

LIFE_S = 5
PROLONGED_S = 10
"""The life of a registered or refreshed person.

It is long for a lane's step and short beside any run, so that arrivals and expiries balance when
the measured window begins.
"""

SETTLED_S = 1.5 * PROLONGED_S

RING = 10**12
"""Enough people that none is added twice.

Then no Add deletes a person, and every removed person was deleted by a lane's step or expired.
"""

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
"""For each class of benches/soak/locustfile.py its sequence, and its share of sixteen lanes."""


def _kinds(script: Script) -> dict[str, str]:
    [operation] = script.facts["operations"]
    rows = {step["name"]: step["verb"] for step in operation["steps"]}
    if operation["is_step"]:
        rows = dict.fromkeys((operation["name"],), *rows.values())
    return {"connect": "connect", "bind": "bind", **rows, "unbind": "unbind"}


STEPS = {program.name: _kinds(program) for program, _ in USERS.values()}
"""The steps of each sequence with their kinds."""
