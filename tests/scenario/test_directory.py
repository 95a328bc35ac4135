"""A scenario file on a directory with foreign people: its operations are performed and counted."""

import json
import os
import re
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ldap3 import Connection

from ils_bench.growth import warn_of_leftovers
from ils_bench.sequences import LOOKUP, text_of
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from sitebench.runs.point import PointResult
from sitebench.runs.runfile import RunFile
from sitebench.scenario import script
from sitebench.system.secret import BIND_PASSWORD
from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import WarningKind
from tests.scenario.people import BASE, Place, a_place, names, write_accounts
from tests.support.cli import Ran, in_process
from tests.support.points import a_spec

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
LOAD = (
    *("--users", "4", "--threads", "2", "--think", "1ms"),
    *("--warmup", "0s", "--measure", "700ms"),
)
NO_PAUSE = ("--think", "0s")


@pytest.fixture
def place(place: Place) -> Place:
    place.write(MIX)
    return place


def measured(place: Place, *more: object) -> Ran:
    return place.run("--i-own-this-target", *LOAD, *more)


def values_of(place: Place, attribute: str, condition: str = "(uid=*)") -> dict[str, Any]:
    """Return an attribute of the entries that match a condition, by their DNs."""
    with Connection(place.directory.url) as connection:
        connection.search(BASE, condition, attributes=[attribute])
        return {each.entry_dn: each[attribute].value for each in connection.entries}


def page_of(place: Place) -> str:
    """Return the report on the run."""
    in_process("report", "run.sitebench", "-o", "report.html", cwd=place.folder).check(0)
    return (place.folder / "report.html").read_text()


def rows(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["program"]: step for step in point["steps"] if step["counted"]}


def test_total_is_the_sum_of_the_operations_whose_changes_are_announced(place: Place) -> None:
    # Few rows, so that even a busy machine uses all of them.
    write_accounts(place.folder, 20)
    out = (*NO_PAUSE, "--out", "run.sitebench")
    ran = measured(place, *out, "--json")
    assert f"mix.toml changes up to 20 entries of {place.directory.url}" in ran.err
    (point,) = ran.objects
    assert point["failures"] == 0, point["examples"]
    found = rows(point)
    # Rates count operations that ended in the window, rows those that were due in it: a few at its
    # edges differ.
    both = found["search"]["count"] + found["modify"]["count"]
    # Operations of 4 users under way at both edges.
    assert point["operations"] == pytest.approx(both, abs=8)
    # Nine cards and one in each of two decks, of which the last may be incomplete; the first decks
    # were dealt before the window.
    with RunFile(place.folder / "run.sitebench") as run_file:
        (kept_point,) = run_file.points()
        done = Counter[str]()
        for row in run_file.timeline(kept_point.id):
            done[row.step] += row.count
    assert done["modify"] >= found["modify"]["count"] > 0
    assert abs(9 * done["modify"] - done["search"]) <= 2 * 9
    assert point["operation"] == "mix"
    # Each row repeatedly: all people were changed, whatever their names.
    assert set(values_of(place, "uid", "(telephoneNumber=+1 *)").values()) == set(names(20))
    # Each operation has a row under the total.
    ran = measured(place, *out)
    lines = [line.split()[:2] for line in ran.out.splitlines()]
    start = lines.index(["mix", "4"])
    assert lines[start + 1 : start + 3] == [["-", "search"], ["-", "modify"]]
    assert '<th scope="row">- search</th>' in page_of(place)
    # No row of the data, and no secret of the file.
    kept = sqlite3.connect(place.folder / "run.sitebench")
    assert "secret-1" not in "\n".join(kept.iterdump())


def test_locust_measures_a_scenario_file(place: Place) -> None:
    load = ("-u", "2", "--think", "2ms", "--warmup", "0s", "--measure", "1s")
    # Without a class name, the file determines the users' operations.
    ran = place.locust(*load, "--i-own-this-target", "--json").check(0)
    counted = {each["name"]: each["num_requests"] for each in json.loads(ran.out)}
    assert counted["search"] > counted["modify"] > 0
    assert not {"lookup", "add"} & set(counted)


def test_rate_is_that_of_all_operations_together(place: Place) -> None:
    (point,) = measured(place, *NO_PAUSE, "--rate", "500", "--json").objects
    assert point["schedule"] == "open"
    assert point["failures"] == 0
    assert point["latency_us"]["n"] == pytest.approx(500 * point["measure_s"], rel=0.3)


def asked_of(ran: Ran) -> list[tuple[str | None, str, str]]:
    """Return the objectives of a point, each with its operation and whether it is met."""
    (point,) = ran.objects
    found = point["objective"]["conditions"]
    return [(each.get("operation"), each["condition"], each["state"]) for each in found]


def test_operations_have_their_own_objectives(place: Place) -> None:
    """The total may meet an objective although an operation does not, and the reverse."""
    mix = MIX.replace("weight = 9\n", 'weight = 9\nobjective = "max<1h"\n')
    mix += 'objective = "max<1us,failures<1%"\n'
    place.write(mix)
    argv = ("--objective", "max<1h", "--out", "run.sitebench", "--json", "--junit", "run.xml")
    ran = measured(place, *argv)
    search, modify = ("search", "max<1h", "met"), ("modify", "failures<1%", "met")
    total, broken = (None, "max<1h", "met"), ("modify", "max<1us", "broken")
    assert asked_of(ran) == [total, search, broken, modify]
    assert ran.code == 3, ran.err
    # "unknown" if other programs used the cores.
    state = "unknown at" if "invalid: mix" in ran.err else "not met by"
    whole = f"objective max<1h,search: max<1h,modify: max<1us,modify: failures<1% {state} 1 of 1"
    assert whole in ran.err
    assert 'failures="1"' in (xml := (place.folder / "run.xml").read_text()) or 'errors="1"' in xml
    assert "modify: max&lt;1us" in page_of(place)
    ran = place.run(*LOAD, "--json", file="mix.toml:search")
    assert asked_of(ran) == [search]
    (point,) = ran.objects
    assert (point["operation"], [*rows(point)]) == ("search", ["search"])
    place.write(f'load.objective = "max<1h"\n{mix}')
    assert asked_of(measured(place, "--json")) == [total, search, broken, modify]


def test_objective_does_not_change_the_counted_steps_of_a_program() -> None:
    text = text_of("lookup")
    objective = '[[operation]]\nobjective = "max<1us"\n'
    lookup = script.from_text("lookup", text)
    asked = script.from_text("lookup", text.replace("[[operation]]\n", objective))
    assert lookup.counts == asked.counts is not None
    assert [*asked.objectives] == [("lookup", "max<1us", 1.0)]


def peak(place: Place, *argv: str) -> Ran:
    window = ("--i-own-this-target", "--threads", "1", "--warmup", "0s", "--measure", "300ms")
    where = ("mix.toml", "--target", place.directory.url)
    return in_process("ils", "peak", *where, *window, *argv, cwd=place.folder)


def test_peak_meets_the_objectives_of_all_operations(place: Place) -> None:
    place.write(f'load.clients = [3]\n{MIX}objective = "max<1us"\n')
    ran = peak(place, "--start", "320", "--out", "run")
    with RunFile(place.folder / "run") as run:
        (found,) = run.manifest()["peaks"]
        *_, lowest = (each for each in run.results() if each.spec.rate == 20)
    assert found["rate"] is None
    # At the lowest rate the reason may be a load generator without a core, or other programs.
    noisy = any(each.kind == WarningKind.NOISY_MACHINE for each in lowest.verdict.warnings)
    if noisy or lowest.verdict.latency_at_most or lowest.verdict.bound == Bound.OTHERS:
        ran.check(1, "this machine was busy with other programs")
    elif lowest.verdict.bound == Bound.GENERATOR:
        ran.check(1, "the load generator reached its own first")
    else:
        ran.check(3, "broke: modify: max is ", "mix: no rate from 20/s up holds modify: max<1us: ")


def test_peak_measures_the_client_counts_of_the_command_line(place: Place) -> None:
    place.write(f'{MIX}objective = "max<1us"\n')
    ran = peak(place, "--clients", "1", "--json").check(0)
    assert [each["users"] for each in ran.objects if "users" in each] == [1]


def test_portable_client_measures_a_scenario_file(place: Place) -> None:
    point = measured(place, "--client", "ldap3", "--json").point
    assert (point["failures_by_kind"], point["generator"]["client"]) == ({}, "ldap3")
    assert point["operations"] > 0


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_result_of_who_am_i_is_captured(client: str, place: Place) -> None:
    steps = """
  { bind = "uid={person.uid},{base}", password = "{person.password}" },
  { who_am_i = true, capture.me = "authzId" },
"""
    write = '{ modify = "uid={person.uid},{base}", change.replace.description = "{me}" }'
    text = MIX.partition("[[operation]]")[0].rstrip() + '\ndeal = "exclusive"\n'
    operation = f'\n[[operation]]\nname = "session"\nstep = [{steps}{write}]\n'
    place.write(text + operation)
    ran = measured(place, "--client", client, "--json").check(0)
    assert ran.objects[0]["failures_by_kind"] == {}
    described = values_of(place, "description", "(description=*)")
    assert described
    assert described == {dn: f"dn:{dn}" for dn in described}


def test_file_with_writes_needs_declared_ownership(place: Place) -> None:
    ran = place.run(*LOAD).check(2, "changes entries of 127.0.0.1")
    assert ran.err.count("nothing restores them") == 1, ran.err
    assert not values_of(place, "telephoneNumber", "(telephoneNumber=*)")


def test_points_differ_if_their_file_or_its_data_differ(place: Place) -> None:
    out = ("--out", "run.sitebench", "--json")
    measured(place, *out)
    assert measured(place, *out).objects[0]["resumed"]
    # The same rows in another place are the same data.
    (place.folder / "mine.csv").write_bytes((place.folder / "accounts.csv").read_bytes())
    mine = ("--data", "person=mine.csv", *out)
    assert measured(place, *mine).objects[0]["resumed"]
    with (place.folder / "mine.csv").open("a") as file:
        file.write((place.folder / "mine.csv").read_text().splitlines()[-1] + "\n")
    assert not measured(place, *mine).objects[0]["resumed"]
    write_accounts(place.folder, PEOPLE - 1)
    assert not measured(place, *out).objects[0]["resumed"]


ADDED = f"""
base = "{BASE}"

[[operation]]
name = "come and go"
step = [
  {{ add = "cn=u{{user}}-{{iteration}},{{base}}", entry = {{ objectClass = "person", sn = "x" }} }},
  {{ delete = "cn=u{{user}}-{{iteration}},{{base}}" }},
]
"""
WHERE = (
    *("--users", "2", "--threads", "1", "--think", "1ms"),
    *("--warmup", "0s", "--measure", "300ms", "--json"),
)


def test_entries_that_a_scenario_adds_and_deletes_do_not_remain(place: Place) -> None:
    place.write(ADDED)
    (point,) = place.run(*WHERE).objects
    assert (point["failures"], point["operation"]) == (0, "mix")
    assert "entries-left" not in str(point["warnings"])
    # Each user may have been between add and delete when it was stopped.
    assert len(values_of(place, "uid", "(cn=u*-*)")) <= 2


def test_deletes_of_missing_entries_are_counted() -> None:
    mix, spec = script.from_text("mix", ADDED), a_spec("mix", users=2)

    def tally(adds: int, deletes: int) -> Tally:
        window = Tally()
        for step, count in (("add", adds), ("delete", deletes)):
            window.steps["come and go", step] = StepTotals("come and go", step, count=count)
        return window

    windows = {"warmup": tally(10, 5), "measure": tally(100, 90)}
    (warning,) = warn_of_leftovers(spec, [mix], windows)
    assert warning.kind == "entries-left"
    assert "15 entries that come and go added" in warning.message
    assert warn_of_leftovers(spec, [mix], {"measure": tally(100, 98)}) == ()
    assert warn_of_leftovers(spec, [LOOKUP], {"measure": tally(100, 0)}) == ()


def test_names_of_columns_may_contain_spaces_and_punctuation(place: Place) -> None:
    lines = (place.folder / "accounts.csv").read_text().splitlines()[-20:]
    rows = [f"x;{line.replace(',', ';')}" for line in lines]
    head = "Straße #;Login (AD);Pass Word"
    (place.folder / "hr.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    place.write(
        f'''
base = "{BASE}"
data.hr = {{ file = "hr.csv", separator = ";", deal = "exclusive" }}
[[operation]]
search = "(uid={{hr.Login (AD)}})"
expect.entries = 1
[[operation]]
bind = "uid={{hr.Login (AD)}},{{base}}"
password = "{{hr.Pass Word}}"
'''
    )
    (point,) = measured(place, "--json").objects
    assert (point["failures"], point["operations"] > 0) == (0, True)


OTHER = "ou=test,dc=example,dc=com"


def test_base_of_the_command_overrides_the_file(place: Place) -> None:
    """Writes redirected to another branch must not overwrite entries of the file's base."""

    def ran(*where: str) -> Ran:
        own = ("--i-own-this-target", *LOAD, "--json")
        return in_process("ils", "run", "mix.toml", "--target", *where, *own, cwd=place.folder)

    def option(base: str) -> tuple[str, ...]:
        return place.directory.url, "--base", base

    def address(base: str) -> tuple[str, ...]:
        return (f"{place.directory.url}/{base}",)

    before = values_of(place, "telephoneNumber")
    for way in (option, address):
        ran(*way(OTHER)).check(2, f"has no entry {OTHER!r}")
    with Connection(place.directory.url) as connection:
        assert connection.add(OTHER, "organizationalUnit")  # type: ignore[no-untyped-call]
    elsewhere = ran(*option(OTHER))
    assert "noSuchObject" in elsewhere.err + elsewhere.out
    assert values_of(place, "telephoneNumber") == before
    place.write(MIX.replace(BASE, OTHER))
    (point,) = ran(*address(BASE)).objects
    assert point["failures"] == 0
    assert point["spec"]["settings"]["base"] == BASE
    assert values_of(place, "telephoneNumber") != before


def test_missing_base_is_reported_before_the_load(place: Place) -> None:
    place.write(MIX.replace(BASE, OTHER))
    measured(place).check(2, f"has no entry {OTHER!r}")


def test_people_in_a_slapd_are_below_the_base_of_the_file(tmp_path: Path) -> None:
    """The papers' profile has no schema for a domain."""
    (tmp_path / "mix.toml").write_text(
        'base = "ou=People,dc=example,dc=com"\ndata.person = { people = "seeded" }\n'
        '[[operation]]\nsearch = "(cn={person.cn})"\nexpect.entries = 1\n'
    )
    who = ("--target", "openldap", "--entries", "20", "--locales", "en_US")
    in_process("ils", "run", "mix.toml", *who, "--check", cwd=tmp_path).check(0)


def test_explicit_default_base_overrides_the_file(tmp_path: Path) -> None:
    """The point's process knows explicitly set options, too."""
    (tmp_path / "mix.toml").write_text(
        'base = "ou=elsewhere,o=Intranet"\ndata.person = { people = "seeded" }\n'
        '[[operation]]\nsearch = "(cn={person.cn})"\nbase = "ou=Dynamic,o=Intranet"\n'
        "expect.entries = 1\n"
    )
    where = ("--base", "ou=Dynamic,o=Intranet", "--entries", "20", "--locales", "en_US")
    point = in_process("ils", "run", "mix.toml", *where, *LOAD, "--json", cwd=tmp_path).point
    assert (point["failures"], point["operations"] > 0) == (0, True)


def test_kept_entries_are_reported_at_the_end(place: Place) -> None:
    head, _, _ = ADDED.partition("  { delete")
    place.write(head.replace("{ add", "{ keep = true, add") + "]\n")
    ran = place.run(*WHERE).check(0, "stay there: cn=u{user}-{iteration},{base}")
    assert "entries-left" not in ran.out


def test_failure_of_an_operation_is_counted_once(place: Place) -> None:
    wrong = '{ search = "(uid=none)", expect.entries = 1 }'
    place.write(
        f'base = "{BASE}"\n'
        f'[[operation]]\nname = "bad"\nstep = [{wrong}, {wrong}, {wrong}]\n'
        '[[operation]]\nname = "good"\nsearch = "(uid=user1)"\nexpect.entries = 1\n'
    )
    # Connections opened in the window would count as attempts, too.
    (point,) = place.run(*WHERE, "--warmup", "200ms", "--allow-failures").objects
    found = rows(point)
    assert point["failures"] == found["bad"]["count"] == found["bad"]["failures"]
    assert point["operations"] == pytest.approx(found["good"]["count"], abs=2)
    # The share is relative to operations, too: half of them are wrong.
    ended = found["bad"]["count"] + found["good"]["count"]
    assert PointResult.read(point).attempts == pytest.approx(ended, abs=2)


@pytest.mark.parametrize("found", ["expect.entries = 1", "size_limit = 2"])
def test_wrong_answer_is_not_captured(found: str, place: Place) -> None:
    """A search with several matches must not lead to a login with another person's name."""

    def tried(*steps: str) -> tuple[Ran, int]:
        head = f'base = "{BASE}"\ndata.person.file = "accounts.csv"\n'
        operation = f'[[operation]]\nname = "a"\nstep = [{", ".join(steps)}]\n'
        place.write(head + operation)
        before = place.directory.stats()["binds"]
        ran = place.run("--check")
        return ran, place.directory.stats()["binds"] - before

    search = f'{{ search = "(cn=X)", {found}, capture.dn = "dn" }}'
    bind = '{ bind = "{dn}", password = "{person.password}" }'
    other = '{ search = "(uid={person.uid})" }'
    _, without = tried(search.replace(', capture.dn = "dn"', ""), other)
    ran, binds = tried(search, bind)
    assert ran.code == 1
    assert re.search(r"^  bind +failed, nothing-captured: ", ran.out, re.MULTILINE), ran.out
    assert binds == without


@pytest.mark.parametrize(
    ("expected", "what"),
    [
        ('expect.entry = { uid = "user1", cn = "Y" }', "cn"),
        ('expect.dn = "uid=user2,{base}"', "the DN"),
    ],
)
def test_wrong_attribute_of_an_entry_is_named(expected: str, what: str, place: Place) -> None:
    step = f'[[operation]]\nsearch = "(uid=user1)"\n{expected}\n'
    place.write(f'base = "{BASE}"\n{step}')
    ran = place.run("--check").check(1)
    assert f"1 entries, success, but {what} is not as expected" in ran.out


def test_scenario_file_may_have_the_name_of_its_operation(place: Place) -> None:
    text = f'base = "{BASE}"\n[[operation]]\nsearch = "(uid=user1)"\nexpect.entries = 1\n'
    place.write(text, "search.toml")
    (point,) = place.run(*WHERE, file="search.toml").objects
    (counted,) = [step for step in point["steps"] if step["counted"]]
    # Operations under way at the window's edges are at most as many as users.
    assert point["operations"] == pytest.approx(counted["count"], abs=2)
    (point,) = place.run(*WHERE, *NO_PAUSE, "--rate", "200", file="search.toml").objects
    # On a busy machine, operations that were due before the window end within it.
    waiting = [sum(point[edge].values()) for edge in ("queue_start", "queue_end")]
    arrivals = point["operations"] - waiting[0] + waiting[1]
    assert arrivals / point["resources"]["seconds"] == pytest.approx(200, rel=0.3)


READER: dict[str, Any] = {"admin_dn": "cn=reader", "admin_password": "secret"}


def test_base_readable_only_by_the_identity_of_the_file_is_accepted(tmp_path: Path) -> None:
    bind = 'connection.main = { bind = "cn=reader", password = "{env.READER}" }\n'
    search = '[[operation]]\nsearch = "(objectClass=*)"\nscope = "base"\nexpect.entries = 1\n'
    with a_place(tmp_path, require_bind=True, **READER) as hidden:
        hidden.write(f'base = "{BASE}"\n{bind}{search}')
        hidden.run(*WHERE, READER="secret").check(0)
        # The identity of the command line reads.
        hidden.write(f'base = "{BASE}"\n{search}')
        hidden.run(*WHERE).check(2, f"does not show {BASE!r}")


TWO_WHO_BIND = """
base = "{base}"
{auth}
[[operation]]
name = "login"
step = [
  {{ bind = "cn=reader", password = "{{env.READER}}"{login} }},
  {{ bind = ""{login} }},
]

[[operation]]
name = "find"
step = [{find}{{ search = "(uid=user2)", expect.entries = 1 }}]
"""


def test_bind_in_one_operation_does_not_drop_the_bind_dn_of_other_operations(
    tmp_path: Path,
) -> None:
    """A file, its single operation and its check agree."""
    with a_place(tmp_path, require_bind=True, **READER) as hidden:

        def ran(login: str = "", find: str = "", *argv: str, only: str = "") -> Ran:
            auth = 'connection.auth.per = "step"' if login else ""
            hidden.write(TWO_WHO_BIND.format(base=BASE, auth=auth, login=login, find=find))
            secret = {"READER": "secret", BIND_PASSWORD: "secret"}
            run = ("--bind-dn", "cn=reader", *WHERE, *argv)
            return hidden.run(*run, file=f"mix.toml{only}", **secret)

        for refused in (ran(), ran(only=":find"), ran("", "", "--check")):
            refused.check(2, "mix.toml: find uses the connection main, where login binds")
        for right in (("", "{ bind = '' }, "), (", on = 'auth'", "")):
            assert ran(*right, only=":find").code == 0, right
            assert ran(*right, "--check").code == 0, right
        assert ran("", "", "--check", only=":login").code == 0


def test_start_steps_with_writes_need_declared_ownership(place: Place) -> None:
    place.write(
        f'[start]\nstep = [{{ delete = "uid=user1,{BASE}" }}]\n'
        f'[[operation]]\nsearch = "(uid=user2)"\nbase = "{BASE}"\n'
    )
    place.run(*WHERE).check(2, "changes entries of")
    assert values_of(place, "uid", "(uid=user1)")


def test_locust_needs_declared_ownership_for_writes(place: Place) -> None:
    place.locust("-u", "1", "-t", "3s", "FileUser").check(2, "changes entries of")
    assert not values_of(place, "telephoneNumber", "(telephoneNumber=*)")


def test_locust_ignores_the_load_of_the_file(place: Place) -> None:
    place.write(
        f'base = "{BASE}"\nload = {{ users = 3, warmup = "1s" }}\n'
        '[[operation]]\nsearch = "(uid=user2)"\n'
    )
    place.locust("-u", "1", "--think", "20ms", "--warmup", "0s", "--measure", "1s").check(
        0, "mix.toml: its [load] is left out (users, warmup)"
    )


def test_foreign_people_are_not_deleted_together_with_added_people(place: Place) -> None:
    place.write(
        f'base = "{BASE}"\ndata.person.file = "accounts.csv"\n[[operation]]\nname = "o"\nstep = [\n'
        '  { add = "uid={person.uid},{base}", entry = { objectClass = "account" } },\n'
        '  { delete = "uid={person.uid},{base}" },\n]\n'
    )
    place.run(*WHERE, "--allow-failures")
    assert len(values_of(place, "uid", "(uid=*)")) == PEOPLE


def test_users_with_a_row_each_are_limited_by_the_number_of_rows(place: Place) -> None:
    place.write(
        f'base = "{BASE}"\n[data.n]\nvalues = ["1", "2"]\nper = "user"\n'
        '[[operation]]\nsearch = "(uid=user{n})"\nexpect.entries = 1\n'
    )
    place.run(*WHERE, "--users", "3").check(
        2, "keeps a row of n, which has 2, and there are 3 users"
    )
    assert place.run(*WHERE).objects[0]["failures"] == 0


def test_values_are_read_from_files(place: Place) -> None:
    (place.folder / "photo.jpg").write_bytes(bytes(range(256)))
    photo = "change.replace.jpegPhoto = { file = 'photo.jpg' }"
    place.write(
        f"base = '{BASE}'\n[data.person]\nfile = 'accounts.csv'\n[[operation]]\n"
        f"modify = 'uid={{person.uid}},{{base}}'\n{photo}\n[[operation]]\n"
        "search = '(uid=*)'\nscope = 'children'\nbase = 'ou=people,dc=example,dc=com'\n"
        f"deref = 'always'\nexpect.entries = {PEOPLE}\n"
    )
    out = ("--out", "run.sitebench", "--json")
    (point,) = measured(place, *out).objects
    assert point["failures"] == 0, point["examples"]
    photos = values_of(place, "jpegPhoto", "(jpegPhoto=*)")
    assert {*photos.values()} == {bytes(range(256))}
    # Another picture makes another point.
    (place.folder / "photo.jpg").write_bytes(b"another")
    assert not measured(place, *out).objects[0]["resumed"]
    (place.folder / "photo.jpg").unlink()
    measured(place).check(2, "cannot read photo.jpg, which is a value")
    # Opening a pipe waits until a program writes to it.
    os.mkfifo(place.folder / "photo.jpg")
    measured(place).check(2, "photo.jpg, which is a value, is no regular file")


def test_target_without_a_required_control_is_refused(place: Place) -> None:
    (place.folder / "bad.toml").write_text(
        f"base = '{BASE}'\n[[operation]]\nsearch = '(uid=a)'\ncontrol.sort = 'sn'\n"
        "[[operation]]\nname = 'fine'\nsearch = '(uid=b)'\ncontrol.manage_dsa_it = true\n"
    )
    place.run(*LOAD, file="bad.toml").check(
        2, "bad.toml:4: sort (1.2.840.113556.1.4.473) is no control of"
    )
    assert place.run(*LOAD, "--check", file="bad.toml:fine").code == 0


def test_paged_search_reads_all_pages(place: Place) -> None:
    search = "[[operation]]\nsearch = '(uid=*)'\npage_size = 7\n"
    place.write(f"base = '{BASE}'\n{search}expect.entries = {PEOPLE}\n")
    point = place.run(*LOAD, "--json").point
    assert (point["failures"], point["operations"] > 0) == (0, True), point["examples"]


@pytest.mark.parametrize("tls", ["true", '"starttls"', "false"])
def test_tls_is_chosen_per_connection(tls: str, tmp_path: Path) -> None:
    """Beside a connection that follows the target's address, which is cleartext."""
    chosen = f'[connection.other]\ntls = {tls}\n[[operation]]\nname = "a"\non = "other"\n'
    with a_place(tmp_path, start_tls=True) as started, a_place(tmp_path, tls=True) as secure:
        started.write(
            f'base = "{BASE}"\n{chosen}search = "(uid=x)"\n[[operation]]\nsearch = "(uid=y)"\n'
        )
        where = ("--tls-target", secure.directory.url, "--json")
        assert measured(started, "--tls-insecure", *where).point["failures"] == 0
        # Their certificates are not signed, which is noticed only with TLS.
        assert (measured(started, *where, "--check").code == 0) == (tls == "false")
        if tls == "true":
            measured(started, "--tls-insecure").check(2, "--tls-target")


@pytest.mark.parametrize("tls", ["false", '"starttls"'])
def test_users_share_connections(tls: str, tmp_path: Path) -> None:
    """Two connections for two threads: the file's row is complete, with waits beside it."""
    text = (
        f'base = "{BASE}"\ndata.person.file = "accounts.csv"\n'
        f"connection.main = {{ pool = 2, outstanding = 3, tls = {tls} }}\n"
        '[[operation]]\nname = "find"\nsearch = "(uid={person.uid})"\n'
        'expect.entry = { uid = "{person.uid}" }\n'
    )
    with a_place(tmp_path, start_tls=True) as place:
        place.write(text)
        point = measured(place, "--users", "9", "--tls-insecure", "--json").point
        assert (point["failures"], point["operations"] > 0) == (0, True)
        assert rows(point)["find"]["step"] == "sequence"
        counts = {each["step"]: each["count"] for each in point["steps"]}
        # Each user may be between wait and search at both edges.
        assert abs(counts["main: wait"] - counts["search"]) <= 18, counts
        tried = measured(place, "--tls-insecure", "--check").check(0)
        assert "main: connect" in tried.out
        assert "wait" not in tried.out
        place.write(text.replace("pool = 2", "pool = 1"))
        message = "a pool of 1 cannot be divided among 2 threads"
        measured(place, "--tls-insecure").check(2, message)


def test_shipped_file_runs_with_user_supplied_people(place: Place) -> None:
    (place.folder / "accounts.csv").rename(place.folder / "mine.csv")
    point = measured(place, "--data", "person=mine.csv", "--json").objects[0]
    assert point["failures"] == 0, point["examples"]
    (place.folder / "short.csv").write_text("name\nuser1\n")
    for data, said in (
        ("person=short.csv", "mix.toml:9:16: operation[1].search: {person.uid}"),
        ("people=mine.csv", "mix.toml has no data 'people' in a file"),
        ("person=not-there.csv", "cannot read not-there.csv, the data 'person'"),
        ("mine.csv", "'mine.csv' is not name=value"),
    ):
        measured(place, "--data", data).check(2, said)


LOOK = """
data.person.people = "seeded"

[[operation]]
name = "look"
search = "(&(objectClass=RTPerson)(cn={person.cn}))"
expect.entry = "person"
"""


@pytest.mark.parametrize("named", [("--scenario", "people.toml"), ("people.toml",)])
def test_sweep_measures_a_scenario_file(tmp_path: Path, named: tuple[str, ...]) -> None:
    (tmp_path / "people.toml").write_text(LOOK)
    sweep = ("ils", "sweep", *named, "--sizes", "50,100", "--locales", "en_US")
    points = in_process(*sweep, *LOAD, "--json", cwd=tmp_path).objects
    found = [(each["operation"], each["entries"], each["failures"]) for each in points]
    assert found == [("people", 50, 0), ("people", 100, 0)]


def test_sweep_of_one_named_operation_measures_only_that_operation() -> None:
    sweep = ("ils", "sweep", "connect", "--sizes", "50", "--locales", "en_US")
    (point,) = in_process(*sweep, *LOAD, "--json").objects
    assert point["operation"] == "connect"


def test_sweep_of_foreign_people_has_one_point_and_refuses_sizes(place: Place) -> None:
    where = ("--scenario", "mix.toml", "--target", place.directory.url, "--i-own-this-target")
    assert in_process("ils", "sweep", *where, *LOAD, "--json", cwd=place.folder).point
    in_process("ils", "sweep", *where, "--sizes", "50,100", cwd=place.folder).check(
        2, "every size would be the same test"
    )
