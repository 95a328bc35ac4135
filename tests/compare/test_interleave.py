"""Two values in turn: the order, the commands, and refusals before the first measurement."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.compare.interleave import Interleaving, Turn, files, measure, plan, prepare
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.runs.manifest import COMPARED
from sitebench.runs.runfile import RunFile

COMMAND = "ils run lookup --target {}"
Places = tuple[Path, Path]


def a_plan(
    command: str = COMMAND,
    a: str = "one",
    b: str = "two",
    *,
    repeats: int = 10,
    seed: int = 1,
    restart: str | None = None,
) -> Interleaving:
    return plan(command, a, b, repeats=repeats, seed=seed, restart=restart)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return files(str(tmp_path / "c"))


def measured(plan: Interleaving, places: Places, *on_turn: Callable[[Turn], object]) -> None:
    prepare(plan, places)
    measure(plan, places, *on_turn)


def test_every_repeat_has_both_sides_in_random_order() -> None:
    turns = a_plan(repeats=40).turns()
    pairs = [turns[n : n + 2] for n in range(0, 80, 2)]
    assert all({turn.side for turn in pair} == {"a", "b"} for pair in pairs)
    assert [pair[0].repeat for pair in pairs] == [pair[1].repeat for pair in pairs]
    assert [pair[0].repeat for pair in pairs] == list(range(40))
    assert 10 <= sum(pair[0].side == "a" for pair in pairs) <= 30


def test_order_of_sides_follows_from_the_seed() -> None:
    assert a_plan().turns() == a_plan().turns()
    assert a_plan(seed=2, repeats=20).turns() != a_plan(repeats=20).turns()


def test_each_turn_adds_one_repeat_to_its_run_file() -> None:
    argv = a_plan("sitebench ils run lookup --target ldap://{}:389").argv("b", Path("f"), 3)
    assert argv[1:4] == ["-P", "-m", "sitebench.cli.main"]
    assert argv[4:] == [
        *("ils", "run", "lookup", "--target", "ldap://two:389"),
        *("--out", "f", "--repeats", "3", "--json", "--allow-failures"),
    ]


def test_run_files_of_both_sides_are_in_one_folder() -> None:
    assert files("x/y") == (Path("x/y-a.sitebench"), Path("x/y-b.sitebench"))
    assert files("y.sitebench") == (Path("y-a.sitebench"), Path("y-b.sitebench"))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ils run lookup", "has no {} to replace by A and B"),
        ("ils serve --port {}", "takes a run or a sweep"),
        ("", "takes a run or a sweep"),
        ("{}", "takes a run or a sweep"),
        ("ils run lookup --target '{}", "cannot read --interleave"),
        ("ils run lookup --target {} --out x", "has --out"),
        ("ils run lookup --target {} --repeats=3 --json", "has --repeats, --json"),
    ],
)
def test_a_command_that_cannot_be_compared_is_refused(command: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        a_plan(command)
    assert said in error.value.message
    assert "\n" not in error.value.message


def test_both_run_files_contain_the_id_of_the_comparison(places: Places) -> None:
    prepare(a_plan(), places)
    prepare(a_plan(), places)
    facts = []
    for path in places:
        with RunFile(path) as file:
            facts.append(file.manifest()[COMPARED])
    assert facts[0]["id"] == facts[1]["id"]
    assert [(side["side"], side["value"]) for side in facts] == [("a", "one"), ("b", "two")]


@pytest.mark.parametrize(
    "other", [{"command": "ils run add --target {}"}, {"seed": 2}, {"repeats": 15}]
)
def test_files_of_another_comparison_are_refused(places: Places, other: dict[str, Any]) -> None:
    prepare(a_plan(), places)
    with pytest.raises(BadInput, match="holds another comparison"):
        prepare(a_plan(**other), places)


def test_option_that_differs_from_the_stored_comparison_is_named(places: Places) -> None:
    prepare(a_plan(restart="./nope {}"), places)
    with pytest.raises(BadInput, match=r"; its --restart is './nope \{\}', not './switch \{\}'"):
        prepare(a_plan(restart="./switch {}"), places)


@pytest.mark.parametrize(("repeats", "said"), [(6, True), (7, False)])
def test_too_few_pairs_are_reported_before_the_first_measurement(
    places: Places, capsys: pytest.CaptureFixture[str], *, repeats: int, said: bool
) -> None:
    """Five pairs were measured before the message "at least 7 are needed"."""
    prepare(a_plan(repeats=repeats), places)
    words = f"{repeats} pairs cannot show any difference, however large: that needs --repeats 7"
    assert (f"{words} for one point, and more for several" in capsys.readouterr().err) == said


def test_each_turn_starts_a_new_target(
    slapd: Path, tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two processes of one program differ with the placement of their memory: if the same process
    # were measured repeatedly, this would count as a difference between A and B.
    started = tmp_path / "started"
    noted = tmp_path / "slapd"
    note = f'case "$*" in *ldap://*) echo $$ >>{started};; esac'
    noted.write_text(f'#!/bin/sh\n{note}\nexec {slapd} "$@"\n')
    noted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    command = (
        "ils run lookup --target openldap --threads 1 --users {} --entries 100 --locales en_US "
        "--rate 100 --warmup 0s --measure 100ms"
    )
    measured(a_plan(command, "1", "2", repeats=2), places)
    pids = started.read_text().split()
    assert len(pids) == len(set(pids)) == 4


def test_restart_without_second_target_compares_two_settings_of_one_server(
    tmp_path: Path, places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    """An index off and on: `{}` occurs only in --restart."""
    with LdapDirectory(entries=50, locales=("en_US",)) as server:
        command = (
            f"ils run lookup --target {server.url} --base {server.base} --entries 50 "
            "--locales en_US --users 1 --threads 1 --rate 100 --warmup 0s --measure 100ms"
        )
        switch = f"echo {{}} >>{tmp_path}/turns"
        measured(a_plan(command, "off", "on", repeats=1, restart=switch), places)
    switched = (tmp_path / "turns").read_text().split()
    assert sorted(switched) == ["off", "on"]
    side = {"off": "A", "on": "B"}[switched[-1]]
    assert f"the server remains as {side} ({switched[-1]})" in capsys.readouterr().err
    for place in places:
        with RunFile(place) as file:
            assert [point.status for point in file.points()] == ["done"]
    with pytest.raises(BadInput, match="nor has --restart"):
        a_plan(command, "off", "on", restart="./switch")


def test_server_is_restarted_before_each_turn_in_its_own_session(
    tmp_path: Path, places: Places
) -> None:
    restart = f"echo {{}} >>{tmp_path}/turns; exec sleep 20 & echo $! >{tmp_path}/pid"
    wrong = a_plan("ils run {} --entries 0", repeats=1, restart=restart)
    with pytest.raises(BadInput):
        measured(wrong, places)
    assert (tmp_path / "turns").read_text().strip() == wrong.value(wrong.turns()[0].side)
    server = int((tmp_path / "pid").read_text())
    # The terminal sends the signal only to the processes of its session.
    assert os.getsid(server) != os.getsid(0)
    os.kill(server, signal.SIGKILL)


def test_failed_restart_ends_the_comparison(places: Places) -> None:
    with pytest.raises(MeasurementFailed, match=r"repeat 1: .*restart.* code 3: no such unit"):
        measured(a_plan(restart="echo no such unit >&2; exit 3"), places)


def test_failed_command_is_reported_with_its_side_and_reason(places: Places) -> None:
    wrong = a_plan(COMMAND, "ldap://127.0.0.1:1", "x", repeats=5)
    turns: list[Turn] = []
    with pytest.raises(MeasurementFailed) as error:
        measured(wrong, places, turns.append)
    (turn,) = turns
    value = wrong.value(turn.side)
    assert error.value.message.startswith(f"{turn.side.upper()} ({value}), repeat 1: ")
    assert error.value.remedy


def test_command_with_an_invalid_option_is_bad_input(places: Places) -> None:
    with pytest.raises(BadInput, match=r"repeat 1: .*no such option '--nonsense'"):
        measured(a_plan("ils run lookup --nonsense {}"), places)
