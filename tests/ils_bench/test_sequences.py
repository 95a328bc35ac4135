import json
import re
import tomllib
from pathlib import Path

import ldap3
import pytest

from ils_bench import sequences
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS, engine_config
from ils_bench.programs import LOGIN
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
from ils_bench.suite import SUITE
from ils_bench.targets.address import DirectoryAddress
from ils_bench.targets.target import OpenDirectory
from sitebench import LdapDirectory
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.scenario import script
from sitebench.scenario.script import from_text
from sitebench.suite_base.points import Load
from tests.engine.wire import LDAP_OPTIONS, Case
from tests.support.cli import in_process
from tests.support.people import BASE


def test_sequence_is_written_as_the_text_of_a_scenario() -> None:
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


def test_steps_refer_to_people_of_earlier_steps() -> None:
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
        ((Connect(), Unbind()), "sends no request"),
        ((Connect(), Search(), Connect(), Search()), "connects twice"),
        ((Connect(), Unbind(), Search(), Search()), "asks for more after Unbind"),
        ((Connect(), Delete("new")), "is about a new person, and adds none before"),
        ((Connect(), Lookup(refresh_minutes=10)), "prolongs by searching"),
    ],
)
def test_sequence_without_an_equivalent_scenario_is_refused(
    steps: tuple[Step, ...], problem: str
) -> None:
    with pytest.raises(BadSequence, match=problem):
        Sequence("s", steps).script("paper")


def test_lookup_repeats_a_hundred_searches_between_bind_and_unbind() -> None:
    for operation in (sequences.LOOKUP, sequences.ADD):
        connection = tomllib.loads(operation.text)["connection"]["main"]
        assert connection == {"per": 100, "bind": ""}
        assert operation.counted_rows == [(operation.name, operation.name)]


def test_operation_connect_counts_its_whole_sequence() -> None:
    assert sequences.CONNECT.counted_rows == [("connect", "sequence")]
    assert [verb for _, verb in sequences.CONNECT.operations[0].steps] == ["bind"]


def test_ils_user_performs_the_nine_steps_of_table_3() -> None:
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
def test_think_times_extend_a_pass_to_the_length_of_the_session(session_s: float) -> None:
    assert sequences.built_in("ils-user", session_s=session_s).least_s == pytest.approx(session_s)


def test_every_counted_operation_is_followed_by_a_think_time() -> None:
    found = Sequence("s", (Connect(), Repeat(9, (Lookup(),)), Unbind()), counts="lookup")
    inner = next(step for step in found.thinking(0.25).steps if isinstance(step, Repeat)).steps
    assert inner == (Lookup(), Think(250.0))
    assert Sequence("s", (Connect(), Lookup())).thinking(1.0).steps[-1] == Think(1000.0)
    assert found.thinking(0) is found


def test_unregistered_user_thinks_without_a_connection() -> None:
    sequence = Sequence("visit", (Connect(), Bind(), Lookup(), Unbind()), counts="sequence")
    script = sequence.thinking(0.02).script()
    assert (script.think_s, script.text) == (0.02, sequence.script().text)


def test_counted_step_must_be_in_the_sequence() -> None:
    with pytest.raises(BadSequence, match="let it count one of connect, search, sequence"):
        Sequence("s", (Connect(), Search()), counts="lookup")


def test_only_sequences_with_changes_count_as_writing() -> None:
    asks = (Connect(), Bind(), Search(), Compare(), Think(1), Unbind())
    nested = (Connect(), Repeat(2, (Repeat(2, (Delete(),)),)))
    for program, writes in (
        (sequences.ADD, True),
        (sequences.built_in("register", "paper"), True),
        (Sequence("inner", nested).script(), True),
        (Sequence("stay", (Connect(), Lookup(refresh_minutes=10))).script("ils"), True),
        (sequences.CONNECT, False),
        (sequences.LOOKUP, False),
        (sequences.RETRIEVE, False),
        (sequences.built_in("ils-user", session_s=1), False),
        (Sequence("ask", asks).script(), False),
    ):
        assert program.writes == writes, program.name


def test_credentials_are_neither_in_the_scenario_text_nor_in_repr() -> None:
    other = Bind("cn=other", "theirs")
    script = Sequence("s", (Connect(), Bind(), other, Search(), Unbind())).script()
    assert "theirs" not in script.text
    assert script.secrets == {"PASSWORD_1": "theirs"}
    assert 'bind = "cn=other"\npassword = "{env.PASSWORD_1}"' in script.text
    assert "theirs" not in repr(other)


def test_processes_divide_added_people_and_the_rate_and_draw_independently() -> None:
    options = IlsOptions(rate=900.0, seed=5, threads=2)
    target = OpenDirectory("any", DirectoryAddress("127.0.0.1", 389), BASE)
    load = Load(options, target, [sequences.LOOKUP], WorkerSlot(2, 3), first_added=77)
    found = json.loads(engine_config(load))
    assert found["schedule"] == {"kind": "open", "rate": 300.0, "arrivals": "poisson"}
    assert found["keys"] == {"choice": "uniform", "seed": 5, "engine": 2}
    assert found["adds"] == {"start": 77, "keys": 1_000_000}
    assert found["threads"] == 2


# The suite's own operations are scenario files.

PAPERS = [each for each in SUITE.operations if each != LOGIN]


@pytest.mark.parametrize("operation", PAPERS)
def test_name_and_title_of_an_operation_do_not_change_its_requests(operation: str) -> None:
    """No code checks whether a file is built in: name, title and notes change no request."""
    text = sequences.text_of(operation)
    other = re.sub(r'^(title|paper) = ".*"$', r'\1 = "Another"', text, flags=re.MULTILINE)
    other = f'note = "Not from a paper"\n{other}'.replace(
        f'[[operation]]\nname = "{operation}"', '[[operation]]\nname = "other"'
    )
    assert (other.count('"other"'), "paper = " in other) == (1 + text.count('"other"'), True)
    own, built_in = from_text("other", other, session_s=0.001), sequences.built_in(operation)
    recorded = [Case(each.name, POINTS, LDAP_OPTIONS, each).record() for each in (own, built_in)]
    assert [*recorded[0].text(60)] == [*recorded[1].text(60)]
    # Whether the last pass has ended is a matter of chance.
    of_passes = {"unbind", "sequence"}
    names = [
        {step.replace(operation, "other") for step in each.steps - of_passes} for each in recorded
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("operation", PAPERS)
def test_file_with_the_text_of_a_built_in_operation_equals_the_operation(
    operation: str, tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(sequences.text_of(operation))
    read, built_in = script.read(str(own)), sequences.built_in(operation)
    assert read.counted_rows == [("own", built_in.counts)]
    assert {step for _, step in read.adding} == {step for _, step in built_in.adding}
    if built_in.adding:
        assert {step for _, step in read.removing} == {step for _, step in built_in.removing}
    assert (read.needs_people, read.writes) == (built_in.needs_people, built_in.writes)
    assert not read.overwrites


def test_operations_are_listed_and_printed(tmp_path: Path) -> None:
    listed = in_process("ils", "operations").check(0).out
    assert all(re.search(rf"^ *{name} +\S", listed, re.MULTILINE) for name in SUITE.operations)
    shown = in_process("ils", "operations", "--show", "add").check(0).out
    assert shown == sequences.text_of("add")
    people = tmp_path / "people.txt"
    people.write_text("a\nb\n")
    quick = ("--names", f"@{people}", "--filter", "(uid={name})")
    assert "search = " in in_process("ils", "operations", *quick).check(0).out


MOVING = """
[data.newcomer]
people = "new"

[data.person]
people = "seeded"

[[operation]]
name = "come"
step = [
  { add = "{newcomer.dn}", entry = "newcomer" },
  { search = "(&(objectClass=*)(cn={newcomer.cn}))", expect.entry = "newcomer" },
]

[[operation]]
name = "look"
search = "(&(objectClass=RTPerson)(cn={person.cn}))"
expect.entry = "person"
"""


def people_in(directory: LdapDirectory) -> int:
    with ldap3.Connection(directory.url) as connection:
        connection.search(directory.base, "(objectClass=RTPerson)", attributes=["1.1"])
        return len(connection.entries)


def test_people_added_by_a_scenario_to_a_foreign_directory_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "moving.toml"
    path.write_text(MOVING)
    with LdapDirectory(200) as directory:
        before = people_in(directory)
        point = in_process(
            *("ils", "run", path, "--target", directory.url, "--base", directory.base),
            *("--entries", "200", "--users", "2", "--i-own-this-target"),
            *("--rate", "200", "--warmup", "200ms", "--measure", "1s", "--json"),
        ).point
        assert people_in(directory) == before == 200
    rows = {(row["program"], row["step"]): row["count"] for row in point["steps"]}
    assert point["failures"] == 0
    assert rows["come", "add"] > 0
    assert rows["look", "search"] > 0


def test_check_uses_people_and_adds_none(tmp_path: Path) -> None:
    looking, moving = tmp_path / "looking.toml", tmp_path / "moving.toml"
    looking.write_text(sequences.text_of("lookup"))
    moving.write_text(MOVING)
    assert "lookup " in in_process("ils", "run", looking, "--entries", "1k", "--check").check(0).out
    in_process("ils", "run", moving, "--check").check(2, "--check adds no people")


def test_rows_of_added_people_match_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "register.toml"
    add = "{ name = 'come', add = '{n.dn}', entry = 'n' }"
    data = "[data.n]\npeople = 'new'\n[[operation]]\nname = 'enter'\n"
    for steps, row in (
        (f"step = [{{ think = '1ms' }}, {add}]", "come"),
        (f"step = [{add}]", "come"),
        (add.strip("{} ").replace("name = 'come', ", "").replace(", entry", "\nentry"), "enter"),
    ):
        path.write_text(f"connection.main.per = 'iteration'\n{data}{steps}\n")
        assert script.read(str(path)).adding == {("register", row)}
