"""`--check`: one user performs each operation once, and the result of its steps is printed."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.sequences import text_of
from tests.scenario.people import BASE, Place, a_place
from tests.support.cli import Ran, in_process
from tests.support.http_server import other_site

TWO = f"""
base = "{BASE}"

[[operation]]
name = "find"
search = "(uid=user1)"

[[operation]]
name = "twice"
step = [
  {{ name = "one", search = "(uid=user2)" }},
  {{ name = "other", search = "(uid=user1)", expect.entries = 1 }},
]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("place"), 10) as opened:
        yield opened


def checked(place: Place, text: str, *more: str) -> Ran:
    place.write(text)
    return place.run("--check", "--users", "9", *more)


def test_check_runs_each_operation_once_and_prints_it(place: Place) -> None:
    ran = checked(place, TWO, "--rate", "100").check(0)
    names = [line.split()[0] for line in ran.out.splitlines() if "connect" not in line]
    assert names == ["find", "search", "twice", "one", "other"]
    assert "sequence" not in ran.out
    steps = [line for line in ran.out.splitlines() if line[0] == " "]
    assert all(re.search(r"\d (us|ms)\b", line) for line in steps), ran.out


def test_check_of_a_file_with_a_row_per_user_needs_only_one_row(place: Place) -> None:
    place.write("uid\nuser1\n", "account.csv")
    account = '[data.account]\nfile = "account.csv"\nper = "user"\n[[operation]]'
    text = TWO.replace("[[operation]]", account, 1).replace("(uid=user1)", "(uid={account.uid})")
    checked(place, text).check(0)


def test_unexpected_answer_names_its_operation(place: Place) -> None:
    wrong = TWO.replace("expect.entries = 1", "expect.entries = 2")
    ran = checked(place, wrong).check(1, "twice: not answered as mix.toml says")
    assert "find:" not in ran.err
    (line,) = [each for each in ran.out.splitlines() if "failed" in each]
    assert line.split()[0] == "other"
    assert not line.endswith((":", " "))


def checked_site(folder: Path, text: str) -> tuple[Ran, list[str]]:
    """Check a scenario at a site without its pages; return also the requests."""
    (folder / "shop.toml").write_text(text)
    with other_site() as (url, requests):
        ran = in_process("site", "run", "shop.toml", "--check", "--target", url, cwd=folder)
    return ran, requests


def test_failed_start_is_shown_once_and_ends_the_check(tmp_path: Path) -> None:
    """The start was repeated without a pause, and the check advised to wait longer."""
    ran, requests = checked_site(
        tmp_path,
        "[start]\nstep = [{ get = '/' }, "
        "{ name = 'login', get = '/login', expect.contains = 'Hello' }]\n"
        "[[operation]]\nname = 'browse'\nget = '/'\n[[operation]]\nname = 'buy'\nget = '/'\n",
    )
    assert (ran.code, requests.count("GET /login")) == (1, 1), ran.out + ran.err
    assert "start: not answered as shop.toml says" in ran.err
    (line,) = [line for line in ran.out.splitlines() if "failed" in line]
    assert ran.out.splitlines()[0] == "start"
    assert "login                failed, wrong-answer: GET /login: 200" in line
    assert line.endswith(', no "Hello" in 13 bytes')
    assert "writes" not in ran.out


def test_failed_start_is_named_if_no_operation_succeeds(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(
        "[start]\nstep = [{ name = 'login', get = '/login', expect.contains = 'Hello' }]\n"
        "[[operation]]\nname = 'browse'\nget = '/'\n"
    )
    brief = ("--users", "1", "--threads", "1", "--warmup", "0s", "--measure", "500ms")
    began_s = time.monotonic()
    with other_site() as (url, requests):
        ran = in_process("site", "run", "shop.toml", *brief, "--target", url, cwd=tmp_path)
    elapsed_s = time.monotonic() - began_s
    assert "the first: start: login: GET /login: 200" in ran.err
    assert ', no "Hello" in 13 bytes' in ran.err
    # The user pauses for 1 s, then for twice as long after each failure.
    assert 1 <= 2 ** (requests.count("GET /login") - 1) <= 1 + elapsed_s


def test_check_announces_its_writes(place: Place) -> None:
    change = f'modify = "uid=user1,{BASE}"\nchange.replace.description = ["changed"]'
    text = f'{TWO}[[operation]]\nname = "change"\n{change}\n'
    ran = checked(place, text, "--i-own-this-target").check(0)
    assert (
        "mix.toml: --check changes the target, and nothing changes it back" in ran.out.splitlines()
    )
    assert "changes the target" not in checked(place, TWO).out


PAUSE = '{ think = "10m", distribution = "constant" }'


@pytest.mark.parametrize("alone", [True, False])
def test_skipped_pauses_are_reported(place: Place, *, alone: bool) -> None:
    """The number of repeats over a list is not known in advance."""
    names = '{ search = "(uid=user*)", capture.name = { attribute = "dn", take = "all" } }'
    rounds = f'{names}, {{ repeat = "name", step = [{PAUSE}] }}, {{ name = "one"'
    if alone:
        rounds = f"{PAUSE}, {rounds}"
    slow = TWO.replace('{ name = "one"', rounds)
    ran = checked(place, slow, "--session", "1h")
    assert (ran.code, ran.out.count("pauses are left out")) == (0, 1), ran.out + ran.err
    assert "pauses" not in checked(place, TWO).out


def test_check_skips_the_pauses_of_a_sites_file(tmp_path: Path) -> None:
    visit = f"[[operation]]\nname = 'visit'\nstep = [{{ get = '/' }}, {PAUSE}, {{ get = '/' }}]\n"
    ran, requests = checked_site(tmp_path, visit)
    assert (ran.code, requests[-2:]) == (0, ["GET /"] * 2), ran.out + ran.err
    assert "pauses are left out" in ran.out


def test_check_abandons_a_slow_operation(place: Place) -> None:
    often = '{ repeat = 1000000, step = [{ name = "one", search = "(uid=user2)" }] }'
    slow = TWO.replace('{ name = "one", search = "(uid=user2)" }', often)
    checked(place, slow, "--timeout", "300ms").check(1, "twice did not end within 0.6 s")


@pytest.mark.parametrize("operation", ["connect.toml", "connect"])
def test_check_ends_at_the_last_step_before_the_final_think_time(
    place: Place, operation: str
) -> None:
    """The pass has a think time after it, so it does not end during a check."""
    place.write(text_of("connect"), "connect.toml")
    ran = place.run("--check", "--timeout", "2s", file=operation).check(0)
    names = [line.split()[0] for line in ran.out.splitlines()]
    assert names == ["connect", "connect", "bind", "unbind"]
