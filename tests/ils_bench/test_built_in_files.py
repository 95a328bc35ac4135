"""The suite's own operations are scenario files."""

import json
import re
from pathlib import Path

import ldap3
import pytest

from ils_bench import sequences
from ils_bench.points import POINTS
from ils_bench.programs import LOGIN
from ils_bench.suite import SUITE
from sitebench import LdapDirectory
from sitebench.scenario import script
from sitebench.scenario.script import from_text
from tests.engine.wire import LDAP_OPTIONS, Case
from tests.support.cli import in_process

PAPERS = [each for each in SUITE.operations if each != LOGIN]


@pytest.mark.parametrize("operation", PAPERS)
def test_an_operation_under_another_name_sends_the_same(operation: str) -> None:
    """No code asks whether a file is a built-in one: name, title and notes change nothing."""
    text = sequences.text_of(operation)
    other = re.sub(r'^(title|paper) = ".*"$', r'\1 = "Another"', text, flags=re.MULTILINE)
    other = f'note = "Not from a paper"\n{other}'.replace(
        f'[[operation]]\nname = "{operation}"', '[[operation]]\nname = "other"'
    )
    assert (other.count('"other"'), "paper = " in other) == (1 + text.count('"other"'), True)
    own, built_in = from_text("other", other, session_s=0.001), sequences.built_in(operation)
    recorded = [Case(each.name, POINTS, LDAP_OPTIONS, each).record() for each in (own, built_in)]
    assert [*recorded[0].text(60)] == [*recorded[1].text(60)]
    # Whether a pass has ended when there is enough is a matter of chance.
    of_passes = {"unbind", "sequence"}
    names = [
        {step.replace(operation, "other") for step in each.steps - of_passes} for each in recorded
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize("operation", PAPERS)
def test_a_stranger_s_file_that_says_the_same_is_the_same(operation: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(sequences.text_of(operation))
    read, built_in = script.read(str(own)), sequences.built_in(operation)
    assert read.counted_rows == [("own", built_in.counts)]
    assert {step for _, step in read.adding} == {step for _, step in built_in.adding}
    if built_in.adding:
        assert {step for _, step in read.removing} == {step for _, step in built_in.removing}
    assert (read.needs_people, read.writes) == (built_in.needs_people, built_in.writes)
    assert not read.overwrites


def sitebench(*words: str) -> str:
    done = in_process(*words)
    assert done.code == 0, done.err
    return done.out


def test_operations_are_listed_and_printed(tmp_path: Path) -> None:
    listed = sitebench("ils", "operations")
    assert all(re.search(rf"^ *{name} +\S", listed, re.MULTILINE) for name in SUITE.operations)
    assert sitebench("ils", "operations", "--show", "add") == sequences.text_of("add")
    people = tmp_path / "people.txt"
    people.write_text("a\nb\n")
    quick = sitebench("ils", "operations", "--names", f"@{people}", "--filter", "(uid={name})")
    assert "search = " in quick


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


def test_people_whom_a_file_adds_to_a_directory_of_another_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "moving.toml"
    path.write_text(MOVING)
    with LdapDirectory(200) as directory:
        before = people_in(directory)
        told = sitebench(
            *("ils", "run", str(path), "--target", f"{directory.url}", "--base", directory.base),
            *("--entries", "200", "--users", "2", "--i-own-this-target"),
            *("--rate", "200", "--warmup", "200ms", "--measure", "1s", "--json"),
        )
        assert people_in(directory) == before == 200
    point = json.loads(told.splitlines()[-1])
    rows = {(each["program"], each["step"]): each["count"] for each in point["steps"]}
    assert point["failures"] == 0
    assert rows["come", "add"] > 0
    assert rows["look", "search"] > 0


def test_check_knows_people_and_adds_none(tmp_path: Path) -> None:
    looking, moving = tmp_path / "looking.toml", tmp_path / "moving.toml"
    looking.write_text(sequences.text_of("lookup"))
    moving.write_text(MOVING)
    assert "lookup " in sitebench("ils", "run", str(looking), "--entries", "1k", "--check")
    done = in_process("ils", "run", moving, "--check")
    assert (done.code, "--check adds no people" in done.err) == (2, True), done.err


def test_rows_of_what_is_added_are_those_of_the_engine(tmp_path: Path) -> None:
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
