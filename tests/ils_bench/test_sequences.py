import json

import pytest

from ils_bench import sequences
from ils_bench.engine_config import engine_config, placed
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
    walk,
)
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.identity import Identity
from sitebench.counts.worker_slot import WorkerSlot


def labels(sequence: Sequence) -> list[str]:
    def of(steps: tuple[Step, ...]) -> list[str]:
        found: list[str] = []
        for step in steps:
            if isinstance(step, Repeat):
                found += step.times * of(step.steps)
            elif not isinstance(step, Think):
                found.append(step.label)
        return found

    return of(sequence.steps)


def test_lookups_come_by_the_hundred_between_a_bind_and_an_unbind() -> None:
    assert sequences.LOOKUP.to_program() == {
        "name": "lookup",
        "counts": "lookup",
        "steps": [
            {"op": "connect"},
            {"op": "bind", "version": 3},
            {"op": "repeat", "times": 100, "steps": [{"op": "lookup", "person": "random"}]},
            {"op": "unbind"},
        ],
    }


def test_a_connect_is_counted_as_a_whole() -> None:
    assert sequences.CONNECT.counts == "sequence"
    assert labels(sequences.CONNECT) == ["connect", "bind", "unbind"]


def test_the_ils_user_does_the_nine_steps_of_table_3() -> None:
    steps = labels(sequences.built_in("ils-user", session_s=1200))
    assert steps[:9] == [
        *("connect", "bind", "retrieve"),
        *("lookup", "lookup", "lookup", "lookup"),
        *("keep-online", "keep-online"),
    ]
    assert steps[9:] == ["unbind"]


@pytest.mark.parametrize("session_s", [60.0, 1200.0])
def test_think_times_fill_the_session(session_s: float) -> None:
    assert sequences.built_in("ils-user", session_s=session_s).least_s == pytest.approx(session_s)


def test_netmeetings_words_are_used_in_the_ils_profile_only() -> None:
    ils, plain = (
        json.dumps(sequences.built_in("register", p).to_program()) for p in ("ils", "paper")
    )
    assert "smodop" in ils
    assert '"refresh_minutes": 10' in ils
    assert "smodop" not in plain
    assert "refresh_minutes" not in plain


def test_a_think_time_follows_every_counted_operation() -> None:
    thinking = sequences.LOOKUP.thinking(0.25)
    inner = next(step for step in thinking.steps if isinstance(step, Repeat)).steps
    assert inner == (Lookup(), Think(250.0))
    assert sequences.CONNECT.thinking(1.0).steps[-1] == Think(1000.0)
    assert sequences.LOOKUP.thinking(0) is sequences.LOOKUP


def test_a_sequence_may_only_count_what_it_does() -> None:
    with pytest.raises(BadSequence, match="let it count one of connect, search, sequence"):
        Sequence("s", (Connect(), Search()), counts="lookup")


def test_who_changes_anything_writes() -> None:
    assert sequences.ADD.writes
    assert sequences.built_in("register", "paper").writes
    assert Sequence("inner", (Connect(), Repeat(2, (Repeat(2, (Delete(),)),)))).writes


def test_who_only_asks_does_not() -> None:
    for each in (
        sequences.CONNECT,
        sequences.LOOKUP,
        sequences.RETRIEVE,
        sequences.built_in("ils-user", session_s=1),
    ):
        assert not each.writes, each.name
    assert not Sequence("ask", (Connect(), Bind(), Search(), Compare(), Think(1), Unbind())).writes


def test_credentials_go_into_every_anonymous_bind_and_no_other() -> None:
    other = Bind("cn=other", "theirs")
    sequence = Sequence("s", (Connect(), Bind(), other, Repeat(2, (Bind(), Add())), Unbind()))
    there = placed(sequence, "o=x", Identity("cn=me", "mine"))
    binds = [step for step in walk(there.steps) if isinstance(step, Bind)]
    assert [(bind.dn, bind.password) for bind in binds] == [
        ("cn=me", "mine"),
        ("cn=other", "theirs"),
        ("cn=me", "mine"),
    ]
    assert placed(sequence, "o=x") == sequence


def test_searches_go_to_the_targets_base_unless_they_name_one() -> None:
    sequence = Sequence("s", (Connect(), Repeat(2, (Search(), Search(base="o=other")))))
    searches = [s for s in walk(placed(sequence, "o=x").steps) if isinstance(s, Search)]
    assert [search.base for search in searches] == ["o=x", "o=other"]


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(Bind("cn=me", "secret"))


def test_steps_leave_out_what_is_not_set() -> None:
    step: Step = Search(filter="(cn=A*)", attributes=("cn", "mail"), expect_entries=0)
    assert step.to_program() == {
        "op": "search",
        "filter": "(cn=A*)",
        "scope": "sub",
        "attributes": ["cn", "mail"],
        "expect_entries": 0,
    }


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
