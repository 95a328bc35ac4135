"""The points that the commands of every suite plan, without measurements."""

from itertools import product
from pathlib import Path

import pytest

from sitebench.counts.until import Until
from sitebench.options.convert import from_texts, to_argv
from tests.support.cli import in_process
from tests.support.planned import planned, unmeasured


@pytest.mark.parametrize(
    "line",
    [
        "ils run",
        "ils sweep",
        "ils vary --vary threads=1,2",
        "ps run",
        "ps sweep",
        "web run",
        "web sweep spice-static",
        "web vary --vary keepalive=on,off",
    ],
)
def test_every_point_of_a_command_has_its_identifying_options(line: str) -> None:
    more = ("--until", "p99:5%,2m", "--measure", "7s", "--seed", "5", "--threads", "1")
    specs = planned(*line.split(), *more)
    assert specs
    for each in specs:
        assert each.until == Until.parse("p99:5%,2m")
        assert (each.measure_s, each.settings["seed"]) == (7.0, "5")
        assert not {"out", "json", "repeats", "clients", "sizes", "paper"} & each.settings.keys()


def test_operations_that_change_a_directory_are_measured_last() -> None:
    specs = planned("ils", "sweep", "--operations", "add,register,lookup", "--sizes", "10,20")
    assert [(each.entries, each.operation) for each in specs] == [
        *product((10, 20), ("lookup", "register", "add"))
    ]


def test_web_sweep_has_each_workload_with_its_own_client_counts() -> None:
    names = ("spice-static", "silicon-surf")
    specs = planned("web", "sweep", *names)
    static, surf = ([spec.users for spec in specs if spec.operation == name] for name in names)
    assert static != surf
    given = planned("web", "sweep", *names, "--clients", "1,3")
    assert [(spec.operation, spec.users) for spec in given] == [*product(names, (1, 3))]


def test_sweeps_of_the_papers_have_the_printed_durations_and_sizes() -> None:
    directory = planned("ils", "sweep", "--paper")
    assert {(each.warmup_s, each.measure_s) for each in directory} == {(10.0, 600.0)}
    assert sorted({each.entries for each in directory}) == [500, 1_000, 5_000, 10_000]
    site = planned("ps", "sweep", "--paper", "--entries", "20")
    assert [(each.entries, each.warmup_s, each.measure_s) for each in site] == [(20, 300.0, 600.0)]


@pytest.mark.parametrize(
    ("lab", "connect", "add", "lookup"), [((), 250, 40, 200), (("--lab", "7000"), 400, 80, 400)]
)
def test_papers_sweep_of_directories_has_the_clients_of_tables_17_and_18(
    lab: tuple[str, ...], connect: int, add: int, lookup: int
) -> None:
    specs = planned("ils", "sweep", "--paper", *lab)
    assert [(each.entries, each.operation, each.users) for each in specs] == [
        (size, *each)
        for size in (500, 1_000, 5_000, 10_000)
        for each in (("connect", connect), ("add", add), ("lookup", lookup))
    ]
    # An add of 126 bytes, as in all eight columns of Tables 5 and 8.
    profiles = {each.operation: each.settings["profile"] for each in specs}
    assert profiles == {"connect": "paper", "add": "small", "lookup": "paper"}


def test_papers_sweep_of_sites_has_33_users_at_each_size_on_both_machines() -> None:
    for lab in ((), ("--lab", "7000")):
        specs = planned("ps", "sweep", "--paper", *lab)
        assert [(each.entries, each.users) for each in specs] == [
            (size, 33) for size in (1_000, 10_000, 100_000, 1_000_000)
        ]


def test_papers_sweep_of_web_servers_has_the_printed_clients_and_ramps() -> None:
    specs = planned("web", "sweep", "webbench1-light", "webstone2-cgi", "--paper")
    assert {each.measure_s for each in specs} == {600.0}
    assert {each.settings["keepalive"] for each in specs} == {"false"}
    light, webstone = (
        [(each.users, each.warmup_s) for each in specs if each.operation == name]
        for name in ("webbench1-light", "webstone2-cgi")
    )
    assert light == [(users, 30.0) for users in (2, 4, 8, 14, 28, 56, 112)]
    many = (*range(10, 101, 10), *range(200, 601, 100))
    assert webstone == [(users, 2.0) for users in many]


def test_length_of_the_window_does_not_change_the_points_of_papers_sweeps() -> None:
    for suite in ("ils", "ps", "web"):
        long = planned(suite, "sweep", "--paper")
        brief = planned(suite, "sweep", "--paper", "--measure", "1s")
        assert {each.measure_s for each in brief} == {1.0}
        assert [(p.operation, p.entries, p.users) for p in brief] == [
            (p.operation, p.entries, p.users) for p in long
        ]


def test_sweep_of_the_paper_announces_its_points() -> None:
    with unmeasured():
        directory = in_process("ils", "sweep", "--paper")
        site = in_process("ps", "sweep", "--paper", "--sizes", "1k")
    assert (
        "as the paper: connect with 250 clients for 10m each; add with 40 clients for 10m each; "
        "lookup with 200 clients for 10m each: 12 points, 122m"
    ) in directory.err
    assert "scenario with 33 clients for 10m each: 1 point, 15m" in site.err


WORKLOAD = 'load.clients = [1, 5]\n[[operation]]\nname = "page"\nget = "/"\n'


def test_user_supplied_scenario_file_is_the_default_operation(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(WORKLOAD)
    at = ("--target", "http://127.0.0.1:9")
    for line in ("web run", "web vary --vary keepalive=on,off"):
        specs = planned(*line.split(), "--scenario", str(mine), *at)
        assert {each.operation for each in specs} == {"mine"}
    for names in ([str(mine), "spice-static"], ["spice-static", str(mine)]):
        specs = planned("web", "sweep", *names, *at)
        assert {(each.operation, "scenario" in each.settings) for each in specs} == {
            ("mine", True),
            ("spice-static", False),
        }


@pytest.mark.parametrize("rate", ["1234567", "20k", "0.125"])
def test_rate_reaches_the_load_without_rounding(rate: str) -> None:
    from ils_bench.options import IlsOptions

    (spec,) = planned("ils", "run", "--rate", rate)
    (sent,) = (each for each in to_argv(IlsOptions(rate=spec.rate)) if "--rate=" in each)
    assert from_texts(IlsOptions, {"rate": sent.partition("=")[2]}).rate == spec.rate


ANONYMOUS = '[[operation]]\nname = "home"\nget = "/"\n'
ORDER = ANONYMOUS.replace("get", "post")
PERSONAL = f'data.one.people = "seeded"\n{ANONYMOUS}expect.contains = "Hello, {{one.given}}"\n'
ELSEWHERE = ("--target", "ldap://127.0.0.1:9", "--base", "o=Intranet")


def test_titles_of_points_name_a_number_of_people_only_if_people_are_used() -> None:
    """The default of --entries was printed as a fact: "connect at 10k"."""
    assert [each.title for each in planned("ils", "run", "connect", *ELSEWHERE)] == [
        "connect, 64 clients"
    ]
    for line in (("connect",), ("lookup", *ELSEWHERE), ("add", *ELSEWHERE)):
        assert [each.title for each in planned("ils", "run", *line)] == [f"{line[0]} at 10k"]
    both = planned("ils", "sweep", "--operations", "connect,lookup", "--sizes", "1k", *ELSEWHERE)
    assert [each.title for each in both] == ["connect at 1k", "lookup at 1k"]


def test_points_name_people_of_a_site_if_its_scenario_uses_people(tmp_path: Path) -> None:
    scenario = tmp_path / "site.toml"
    asked = ("ps", "run", "--target", "http://127.0.0.1:9", "--scenario", str(scenario))
    without, with_people = "site, 64 clients", "site at 10k"
    for text, title in ((ANONYMOUS, without), (ORDER, without), (PERSONAL, with_people)):
        scenario.write_text(text)
        assert [each.title for each in planned(*asked, "--i-own-this-target")] == [title]
