import json
import tomllib

import pytest

from ils_bench import sequences
from ils_bench.engine_config import engine_config
from ils_bench.options import IlsOptions
from ils_bench.sequences import (
    Add,
    BadSequence,
    Bind,
    Compare,
    Connect,
    Delete,
    Lookup,
    Repeat,
    Search,
    Sequence,
    Step,
    Think,
    Unbind,
)
from ils_bench.targets.address import DirectoryAddress
from sitebench.counts.worker_slot import WorkerSlot


def test_a_sequence_is_the_scenario_that_it_writes() -> None:
    prefix = Sequence(
        "prefix",
        (Connect(), Bind(), Repeat(50, (Search(filter="(cn=A{x}*)"),)), Unbind()),
        counts="search",
    )
    assert (
        prefix.script().text
        == """\
[connection.main]
per = 50
bind = ""

[[operation]]
name = "prefix"
counts = "search"

[[operation.step]]
name = "search"
search = "(cn=A{{x}*)"
scope = "sub"
"""
    )
    assert prefix.script().counted_rows == [("prefix", "search")]


def test_people_of_steps_are_those_that_the_steps_before_were_about() -> None:
    steps = (Connect(), Lookup(), Compare("sn", "current"), Add(), Delete("new"), Lookup("own"))
    text = Sequence("people", steps).script("posix").text
    assert [line for line in text.splitlines() if "person1" in line] == [
        "[data.person1]",
        'search = "(&(objectClass=posixAccount)(uid={person1.uid}))"',
        'expect.entry = "person1"',
        'compare = "{person1.dn}"',
        'entry = { "sn" = "{person1.sn}" }',
    ]
    assert 'add = "{newcomer2.dn}"' in text
    assert 'delete = "{newcomer2.dn}"' in text
    assert '[data.own]\npeople = "seeded"\nper = "user"' in text


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ((Search(),), "begins without a connection"),
        ((Connect(), Search(), Connect(), Search()), "connects twice"),
        ((Connect(), Unbind(), Search(), Search()), "asks for more after Unbind"),
        ((Connect(), Delete("new")), "is about a new person, and adds none before"),
        ((Connect(), Lookup(refresh_minutes=10)), "prolongs by searching"),
    ],
)
def test_what_no_scenario_says_is_refused(steps: tuple[Step, ...], problem: str) -> None:
    with pytest.raises(BadSequence, match=problem):
        Sequence("s", steps).script("paper")


def test_lookups_come_by_the_hundred_between_a_bind_and_an_unbind() -> None:
    for operation in (sequences.LOOKUP, sequences.ADD):
        connection = tomllib.loads(operation.text)["connection"]["main"]
        assert connection == {"per": 100, "bind": ""}
        assert operation.counted_rows == [(operation.name, operation.name)]


def test_a_connect_is_counted_as_a_whole() -> None:
    assert sequences.CONNECT.counted_rows == [("connect", "sequence")]
    assert [verb for _, verb in sequences.CONNECT.operations[0].steps] == ["bind"]


def test_the_ils_user_does_the_nine_steps_of_table_3() -> None:
    text = tomllib.loads(sequences.built_in("ils-user", session_s=1200).text)
    steps = [
        (each["name"], step.get("repeat", 1))
        for step in text["operation"][0]["step"]
        for each in step.get("step", [step])
        if "think" not in each
    ]
    # Steps 1 and 2 connect and bind.
    assert text["connection"]["main"] == {"per": "iteration", "bind": ""}
    assert steps == [("retrieve", 1), ("lookup", 4), ("keep-online", 1), ("keep-online", 1)]


@pytest.mark.parametrize("session_s", [60.0, 1200.0])
def test_think_times_fill_the_session(session_s: float) -> None:
    assert sequences.built_in("ils-user", session_s=session_s).least_s == pytest.approx(session_s)


def test_a_think_time_follows_every_counted_operation() -> None:
    found = Sequence("s", (Connect(), Repeat(9, (Lookup(),)), Unbind()), counts="lookup")
    inner = next(step for step in found.thinking(0.25).steps if isinstance(step, Repeat)).steps
    assert inner == (Lookup(), Think(250.0))
    assert Sequence("s", (Connect(), Lookup())).thinking(1.0).steps[-1] == Think(1000.0)
    assert found.thinking(0) is found


def test_user_who_has_left_thinks_without_a_connection() -> None:
    sequence = Sequence("visit", (Connect(), Bind(), Lookup(), Unbind()), counts="sequence")
    script = sequence.thinking(0.02).script()
    assert (script.think_s, script.text) == (0.02, sequence.script().text)


def test_a_sequence_may_only_count_what_it_does() -> None:
    with pytest.raises(BadSequence, match="let it count one of connect, search, sequence"):
        Sequence("s", (Connect(), Search()), counts="lookup")


def test_who_changes_anything_writes() -> None:
    assert sequences.ADD.writes
    assert sequences.built_in("register", "paper").writes
    assert Sequence("inner", (Connect(), Repeat(2, (Repeat(2, (Delete(),)),)))).script().writes
    assert Sequence("stay", (Connect(), Lookup(refresh_minutes=10))).script("ils").writes


def test_who_only_asks_does_not() -> None:
    for each in (
        sequences.CONNECT,
        sequences.LOOKUP,
        sequences.RETRIEVE,
        sequences.built_in("ils-user", session_s=1),
    ):
        assert not each.writes, each.name
    steps = (Connect(), Bind(), Search(), Compare(), Think(1), Unbind())
    assert not Sequence("ask", steps).script().writes


def test_credentials_are_in_no_text() -> None:
    other = Bind("cn=other", "theirs")
    script = Sequence("s", (Connect(), Bind(), other, Search(), Unbind())).script()
    assert "theirs" not in script.text
    assert script.secrets == {"PASSWORD_1": "theirs"}
    assert 'bind = "cn=other"\npassword = "{env.PASSWORD_1}"' in script.text


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Bind("cn=me", "secret"))


def test_processes_draw_apart_among_the_same_people_and_share_an_open_rate() -> None:
    options = IlsOptions(rate=900.0, seed=5, threads=2)
    found = json.loads(
        engine_config(
            options,
            DirectoryAddress("127.0.0.1", 389),
            [sequences.LOOKUP],
            slot=WorkerSlot(2, 3),
            first_added=77,
        )
    )
    assert found["schedule"] == {"kind": "open", "rate": 300.0, "arrivals": "poisson"}
    assert found["keys"] == {"choice": "uniform", "seed": 5, "engine": 2}
    assert found["adds"] == {"start": 77, "keys": 1_000_000}
    assert found["threads"] == 2
