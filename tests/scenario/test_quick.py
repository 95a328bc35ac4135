"""Scenarios without a file, and one user who tries a file."""

from pathlib import Path

import pytest

from ils_bench.options import IlsOptions
from ils_bench.quick import script_of
from sitebench.errors import BadInput
from tests.scenario.people import BASE, Place
from tests.support.cli import Ran, in_process

SHORT = ("--users", "2", "--threads", "1", "--warmup", "0s", "--measure", "400ms", "--json")


@pytest.fixture
def place(place: Place) -> Place:
    place.write("user1\nuser2\n", "people.txt")
    return place


def measured(place: Place, *argv: str) -> Ran:
    where = ("--target", place.directory.url, "--base", BASE)
    return in_process("ils", "run", *argv, *where, cwd=place.folder)


def test_filter_option_sets_the_filter_of_the_search(place: Place) -> None:
    people = ("--names", "@accounts.csv:uid")
    point = measured(place, "--filter", "(|(uid={name})(cn=nothing))", *people, *SHORT).point
    assert (point["operation"], point["failures"]) == ("search", 0), point
    assert point["operations"] > 0


def test_mix_without_a_file_has_a_row_for_each_verb(place: Place) -> None:
    mix = ("--mix", "search=6,modify=3,compare=1", "--attribute", "telephoneNumber")
    for names in ("@people.txt", "@accounts.csv:uid"):
        own = ("--names", names, "--i-own-this-target")
        (point,) = measured(place, "mix", *mix, *own, *SHORT).objects
        assert point["failures"] == 0, point["examples"]
        counts = {s["program"]: s["count"] for s in point["steps"] if s["counted"]}
        assert counts["search"] > counts["modify"] > counts["compare"] > 0


def test_mix_uses_numbered_names(place: Place) -> None:
    people = ("--names", "uid=user{i}", "--entries", "90")
    (point,) = measured(place, "--mix", "search=1", *people, *SHORT).objects
    assert (point["failures"], point["operation"]) == (0, "mix")


def test_name_is_quoted_in_the_generated_file(tmp_path: Path) -> None:
    (tmp_path / 'a "b".csv').write_text("uid\nx\n")
    options = IlsOptions(names=f'@{tmp_path}/a "b".csv:uid', filter='(cn="{name}")', base='ou="x"')
    script = script_of(options)
    assert script is not None
    assert script.tables["name"].rows == 1
    with pytest.raises(BadInput):
        script_of(IlsOptions(filter="(uid={name})"))


FILE = f"""
base = "{BASE}"
data.person.file = "accounts.csv"
[[operation]]
name = "login"
step = [
  {{ search = "(uid={{person.uid}})", capture.who = "dn" }},
  {{ bind = "{{who}}", password = "{{person.password}}" }},
]
[[operation]]
modify = "uid=not-there,{{base}}"
change.replace.sn = "{{person.uid}}"
"""


def test_check_runs_a_file_with_one_user(place: Place) -> None:
    place.write(FILE)
    ran = measured(place, "mix.toml", "--check", "--i-own-this-target").check(1)
    lines = [line.split()[:2] for line in ran.out.splitlines()]
    tried = "mix.toml: login main: search bind modify main: modify"
    assert [each[0] for each in lines] == tried.split()
    assert lines[-1] == ["modify", "failed,"]
    assert "noSuchObject" in ran.out
    assert "modify: not answered as mix.toml says" in ran.err
    assert "secret-" not in ran.out
    login = measured(place, "mix.toml:login", "--check").check(0)
    _, _, search, bind = login.out.splitlines()
    # The sent request with its values, and the answer.
    assert ' search "(uid=' in search
    assert f'base="{BASE}" scope=sub: 1 entries, success; who = ' in search
    assert " bind as " in bind
    assert "password={person.password}: success" in bind
