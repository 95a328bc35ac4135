"""A scenario file on a directory with people of a stranger: what it says is done, and counted."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ldap3 import Connection, Server

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench import run
from tests.scenario.people import BASE, SUFFIX, names, write_accounts, write_ldif
from tests.support.cli import Ran, in_process, python_module

PEOPLE = 100
MIX = f"""
base = "{BASE}"

[data.person]
file = "accounts.csv"

[[operation]]
weight = 9
search = "(uid={{person.uid}})"
expect.entries = 1
expect.entry = {{ uid = "{{person.uid}}" }}

[[operation]]
modify = "uid={{person.uid}},{{base}}"
change.replace.telephoneNumber = "+1 {{random:10:0-9}}"
"""
LOAD = ("--users", "4", "--threads", "2", "--warmup", "0s", "--measure", "700ms")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_accounts(tmp_path, PEOPLE)
    (tmp_path / "mix.toml").write_text(MIX)
    return tmp_path


@pytest.fixture
def directory(folder: Path) -> Iterator[LdapDirectory]:
    with LdapDirectory(0, ldif=write_ldif(folder, PEOPLE), suffix=SUFFIX) as found:
        yield found


def measured(folder: Path, directory: LdapDirectory, *more: object) -> Ran:
    where = ("--target", directory.url, "--i-own-this-target")
    return in_process("ils", "run", "mix.toml", *where, *LOAD, *more, cwd=folder)


def found_by(directory: LdapDirectory, condition: str) -> set[str]:
    """Return the uids of those who meet it."""
    connection = Connection(Server(directory.url), auto_bind=True)
    try:
        connection.search(BASE, condition, attributes=["uid"])
        return {each.uid.value for each in connection.entries}
    finally:
        connection.unbind()


def rows(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["program"]: step for step in point["steps"] if step["counted"]}


def test_the_total_is_the_sum_of_the_operations(folder: Path, directory: LdapDirectory) -> None:
    (point,) = measured(folder, directory, "--json").objects
    assert point["failures"] == 0, point["examples"]
    found = rows(point)
    assert point["operations"] == found["search"]["count"] + found["modify"]["count"]
    # Nine cards and one in each of two decks, of which the last may not be done.
    assert abs(9 * found["modify"]["count"] - found["search"]["count"]) <= 2 * 9
    assert point["operation"] == "mix"
    # Each row once and again: all people were changed, whatever they are called.
    assert found_by(directory, "(telephoneNumber=+1 *)") == set(names(PEOPLE))


def test_each_operation_has_a_row_under_the_total(folder: Path, directory: LdapDirectory) -> None:
    ran = measured(folder, directory, "--out", "run.sitebench")
    lines = [line.split()[:2] for line in ran.out.splitlines()]
    start = lines.index(["mix", "4"])
    assert lines[start + 1 : start + 3] == [["-", "search"], ["-", "modify"]]
    assert in_process("report", "run.sitebench", "-o", "report.html", cwd=folder).code == 0
    page = (folder / "report.html").read_text()
    assert '<th scope="row">- search</th>' in page
    # No row of the data, and nothing of a file's own secrets.
    kept = sqlite3.connect(folder / "run.sitebench")
    assert "secret-1" not in "\n".join(kept.iterdump())


def test_one_operation_of_a_file_is_measured_alone(folder: Path, directory: LdapDirectory) -> None:
    argv = ("ils", "run", "mix.toml:search", "--target", directory.url, *LOAD, "--json")
    (point,) = in_process(*argv, cwd=folder).objects
    assert point["operation"] == "search"
    assert list(rows(point)) == ["search"]


def test_so_is_a_file_by_a_program(folder: Path, directory: LdapDirectory) -> None:
    found = run(str(folder / "mix.toml"), directory, users=2, threads=1, warmup_s=0, measure_s=0.5)
    assert (found.point.failures, found.point.spec.operation) == (0, "mix")
    assert found.ops_per_s > 0


def test_so_is_it_by_locust(folder: Path, directory: LdapDirectory) -> None:
    load = ("--headless", "-u", "2", "-t", "2s", "--only-summary", "--json")
    where = ("--target", directory.url, "--i-own-this-target", "--scenario", "mix.toml")
    file = str(Path(__file__).parents[2] / "locustfiles/ils.py")
    # No class is named: where there is a file, it says what users do.
    ran = python_module("locust", "-f", file, *load, *where, cwd=folder)
    assert ran.code == 0, ran.err
    counted = {each["name"]: each["num_requests"] for each in json.loads(ran.out)}
    assert counted["search"] > counted["modify"] > 0
    assert not {"lookup", "add"} & set(counted)


def test_a_rate_is_of_operations_of_every_kind(folder: Path, directory: LdapDirectory) -> None:
    (point,) = measured(folder, directory, "--rate", "500", "--json").objects
    assert point["schedule"] == "open"
    assert point["failures"] == 0
    assert point["latency_us"]["n"] == pytest.approx(500 * point["measure_s"], rel=0.3)


def test_the_load_of_a_file_holds_where_the_command_says_nothing(
    folder: Path, directory: LdapDirectory
) -> None:
    text = '[load]\nusers = 3\nwarmup = "0s"\nmeasure = "400ms"\nobjective = "p99<10s"\n'
    (folder / "mix.toml").write_text(MIX + text)
    where = ("--target", directory.url, "--i-own-this-target", "--threads", "1", "--json")
    (point,) = in_process("ils", "run", "mix.toml", *where, cwd=folder).objects
    assert (point["users"], point["warmup_s"], point["spec"]["measure_s"]) == (3, 0.0, 0.4)
    (point,) = in_process("ils", "run", "mix.toml", *where, "--users", "64", cwd=folder).objects
    assert point["users"] == 64


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ('[[operation]]\nserach = "(uid=a)"', "bad.toml:2:1: operation[1].serach"),
        ('[data.x]\nfile = "x.csv"\n[[operation]]\nsearch = "(u={x.u})"', "cannot read x.csv"),
        (
            '[data.x]\nfile = "accounts.csv"\n[[operation]]\nsearch = "(u={x.u})"',
            "bad.toml:4:14: operation[1].search: {x.u}: no such column",
        ),
        ('[[operation]]\nget = "/"', "speaks HTTP"),
        ('[load]\nclients = [1]\n[[operation]]\nsearch = "(u=a)"', "clients is read, but not"),
        ('[[operation]]\nsearch = "(u={env.NOT_THERE})"', "takes $NOT_THERE from the environment"),
        ('[[operation]]\nsearch = "(u=a)"\npage_size = 3', "page_size is read, but not run yet"),
    ],
)
def test_what_is_wrong_is_said_before_any_load(
    file: str, said: str, folder: Path, directory: LdapDirectory
) -> None:
    (folder / "bad.toml").write_text(file)
    ran = in_process("ils", "run", "bad.toml", "--target", directory.url, *LOAD, cwd=folder)
    assert ran.code in (1, 2)
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_the_portable_client_refuses_a_file(folder: Path, directory: LdapDirectory) -> None:
    ran = measured(folder, directory, "--client", "ldap3")
    assert (ran.code, "runs no scenarios yet" in ran.err) == (2, True)


def test_entries_that_were_there_change_only_with_a_word(
    folder: Path, directory: LdapDirectory
) -> None:
    argv = ("ils", "run", "mix.toml", "--target", directory.url, *LOAD)
    ran = in_process(*argv, cwd=folder)
    assert ran.code == 2
    assert "changes entries of 127.0.0.1" in ran.err
    assert not found_by(directory, "(telephoneNumber=*)")


def test_points_differ_where_a_file_or_its_data_do(folder: Path, directory: LdapDirectory) -> None:
    out = ("--out", "run.sitebench", "--json")
    measured(folder, directory, *out)
    assert measured(folder, directory, *out).objects[0]["resumed"]
    write_accounts(folder, PEOPLE - 1)
    assert not measured(folder, directory, *out).objects[0]["resumed"]
