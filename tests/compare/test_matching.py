"""Comparable points: equal options at any target."""

from typing import Any

import pytest
from msgspec.structs import replace

from sitebench.compare.matching import check_facts, differences, identity, match, varying_options
from sitebench.errors import BadInput
from sitebench.runs.point import PointSpec
from sitebench.runs.repeats import Series
from tests.support.points import a_spec


def side(*specs: PointSpec) -> list[Series]:
    return [Series(spec, ()) for spec in specs]


def refused(a: PointSpec, b: PointSpec, varying: tuple[str, ...] = ()) -> str:
    with pytest.raises(BadInput) as error:
        match(side(a), side(b), varying)
    return str(error.value)


def test_points_match_despite_different_targets_and_bases() -> None:
    a = a_spec(settings={"keys": "uniform", "target": "openldap", "base": "ou=x"})
    b = replace(a, target="ldap://b", settings={**a.settings, "target": "ldap://b", "base": "o=y"})
    found = match(side(a), side(b))
    assert [(each.a.spec, each.b.spec) for each in found.common] == [(a, b)]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"operation": "add"}, "operation (lookup / add)"),
        ({"entries": 10_000}, "entries (1k / 10k)"),
        ({"users": 8}, "users (64 / 8)"),
        ({"rate": 500.0}, "rate (not set / 500)"),
        ({"warmup_s": 1.0}, "warmup (500ms / 1s)"),
        ({"measure_s": 60.0}, "measure (2s / 1m)"),
        ({"client": "ldap3"}, "client (native / ldap3)"),
        ({"settings": {"a": "c"}}, "a (b / c)"),
        ({"settings": {"a": "b", "think": "1s"}}, "think (not set / 1s)"),
    ],
)
def test_each_difference_of_options_is_named_and_refused(other: dict[str, Any], named: str) -> None:
    a = a_spec()
    said = refused(a, replace(a, **other))
    assert said.startswith(f"the runs measured with different options: {named};")
    name = named.partition(" ")[0]
    assert said.endswith(f"--varying {name}")
    assert match(side(a), side(replace(a, **other)), (name,)).common


def test_runs_of_two_suites_are_refused_without_a_list_of_options() -> None:
    said = refused(a_spec(), a_spec(suite="ps", operation="page"))
    assert said == (
        "A is a run of `sitebench ils` and B one of `sitebench ps`; name two runs of one suite"
    )


def test_all_differences_of_options_are_named_together() -> None:
    said = refused(a_spec(), a_spec(users=8, measure_s=1.0))
    assert "users (64 / 8), measure (2s / 1s)" in said
    assert "--varying users,measure" in said


def test_message_names_differences_of_the_most_similar_points() -> None:
    with pytest.raises(BadInput, match=r"options: users \(64 / 8\);"):
        match(side(a_spec(), a_spec("add")), side(a_spec(users=8)))


def test_points_of_only_one_run_are_listed_separately() -> None:
    found = match(side(a_spec(), a_spec(entries=10)), side(a_spec(), a_spec("add")))
    assert [each.a.spec for each in found.common] == [a_spec()]
    assert found.only_a == (a_spec(entries=10),)
    assert found.only_b == (a_spec("add"),)


def test_empty_run_and_ambiguous_match_are_refused() -> None:
    with pytest.raises(BadInput, match="B has no finished point"):
        match(side(a_spec()), [])
    with pytest.raises(
        BadInput, match="A has lookup at 1k, 8 users with more than one value of users"
    ):
        match(side(a_spec(), a_spec(users=8)), side(a_spec()), ("users",))


def test_varied_options_are_those_that_differ_in_all_points() -> None:
    a = [a_spec(entries=n, settings={"threads": "1"}) for n in (10, 100)]
    b = [a_spec(entries=n, settings={"threads": "2"}) for n in (10, 100)]
    assert [str(each) for each in varying_options(a, b)] == ["threads (1 / 2)"]
    assert varying_options(a, a) == []


def test_repeats_of_one_point_have_equal_identities() -> None:
    assert differences(identity(a_spec()), identity(a_spec(repeat=3))) == []


def people(**other: Any) -> dict[str, Any]:
    return {"population": {"digest": "d", "pools_digest": "p", **other}, "sizes": [10]}


def test_different_people_with_equal_options_are_refused() -> None:
    check_facts(people(), people(digest="of another DN"))
    with pytest.raises(BadInput, match="different people: pools_digest p / q"):
        check_facts(people(), people(pools_digest="q"))
    check_facts(people(), people(pools_digest="q"), ("locales",))


def test_people_are_compared_by_digest_only_if_their_numbers_match() -> None:
    a, b = people(pools_digest=None), people(pools_digest=None, digest="e")
    with pytest.raises(BadInput, match="different people: digest d / e"):
        check_facts(a, b)
    check_facts(a, {**b, "sizes": [10, 100]})
    check_facts(a, {})


def test_different_scenario_of_the_same_file_name_is_refused() -> None:
    one, other = ({"scenarios": {digest: digest}} for digest in ("one", "two"))
    with pytest.raises(BadInput, match="different scenarios"):
        check_facts(one, other)
    check_facts(one, other, ("scenario",))


def test_cgi_programs_with_different_output_are_refused() -> None:
    a, b = ({"targets": [{"name": "nginx"}, {"cgi_program": each}]} for each in "ab")
    with pytest.raises(BadInput, match="different CGI programs"):
        check_facts(a, b)
    check_facts(a, a)
    check_facts(a, b, ("cgi_program",))
    # A run of static files alone has no fact about programs, and any run may be compared with it.
    check_facts(a, {"targets": [{"name": "nginx"}]})
