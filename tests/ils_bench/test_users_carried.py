"""An ils-user counts whole passes of Table 3, from the run to the plan.

"How many users the SUT can support" is what the paper asks with this scenario (page 8).
"""

import json
import re
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ils_bench.sequences import built_in
from ils_bench.targets.ldap_directory import LdapDirectory
from tests.support.cli import in_process
from tests.support.relay import relayed

QUICK = ("--entries", "1k", "--users", "4", "--warmup", "100ms", "--measure", "1s")
# By default a point bound by the load generator is measured again with more threads.
SHORT = ("--session", "1ms", "--locales", "en_US", "--threads", "1")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of users whose sessions take a millisecond."""
    path = tmp_path_factory.mktemp("run") / "run.sitebench"
    in_process("ils", "run", "ils-user", *QUICK, *SHORT, "--out", path, "--quiet").check(0)
    return path


def stored(path: Path) -> dict[str, Any]:
    (row,) = sqlite3.connect(path).execute("SELECT result FROM points").fetchall()
    found: dict[str, Any] = json.loads(row[0])
    return found


def step(found: dict[str, Any], name: str) -> dict[str, Any]:
    made: dict[str, Any] = next(each for each in found["steps"] if each["step"] == name)
    return made


def planned(path: Path, *more: str) -> Any:
    ran = in_process("plan", "ils", path, "--mix", "ils-user=1", *more, "--json").check(0)
    return json.loads(ran.out)["answers"]["simultaneous"]


def test_ils_user_counts_passes_over_its_sequence_and_yields_the_planned_users(run: Path) -> None:
    found = stored(run)
    passes, lookups = step(found, "sequence"), step(found, "lookup")
    assert found["counts"] == ["sequence"]
    assert found["ops_per_s"] == pytest.approx(passes["per_s"])
    assert lookups["count"] == pytest.approx(4 * passes["count"], abs=4 * 4)
    assert planned(run) == pytest.approx(passes["per_s"] * 1_200, rel=1e-3)


OPEN = ("--session", "5s", "--rate", "20", "--users", "200")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("run", "ils-user"), ("takes 20m", "window is 10s", "--session 5s", "--measure 40m")),
        (
            ("sweep", "--operations", "connect,ils-user"),
            ("takes 20m", "window is 10s", "--session 5s"),
        ),
        (("peak", "ils-user"), ("takes 20m", "--session 5s")),
        (("vary", "ils-user", "--vary", "keys=uniform,zipfian"), ("takes 20m", "--session 5s")),
        (("run", "ils-user", *OPEN), ("warm-up is 2s", "--warmup 5s")),
        (
            ("run", "ils-user", *OPEN, "--warmup", "5s", "--timeout", "3s"),
            ("waited for for 3s", "--timeout 10s"),
        ),
        (
            ("run", "ils-user", *OPEN, "--warmup", "5s", "--users", "64"),
            ("64 users cannot begin 20", "100 are under way at once", "--users 150"),
        ),
    ],
    ids=lambda said: " ".join(said[:4]),
)
def test_passes_that_cannot_be_counted_are_refused_with_the_option_to_change(
    argv: tuple[str, ...], words: tuple[str, ...], tmp_path: Path
) -> None:
    in_process("ils", *argv, cwd=tmp_path).refuse(2, *words)
    assert not [*tmp_path.iterdir()]


def test_rate_option_of_ils_user_sets_how_many_passes_begin_per_second() -> None:
    rate = ("--rate", "40", "--warmup", "500ms", "--measure", "2s", "--session", "100ms")
    found = in_process(
        *("ils", "run", "ils-user", "--entries", "500", "--users", "16", "--locales", "en_US"),
        *(*rate, "--arrivals", "even", "--json"),
    ).point
    assert found["counts"] == ["sequence"]
    # All operations due in the window, however late a busy machine completes them.
    passes = step(found, "sequence")["count"]
    assert passes == pytest.approx(40 * found["measure_s"], abs=2)
    assert found["ops_per_s"] < 80
    # Each of 16 users may have begun a pass before the window or end one after it, and passes that
    # are due in the window wait on a busy machine.
    waited = 40 * found["lag_us"]["max"] / 1e6
    assert step(found, "lookup")["count"] == pytest.approx(4 * passes, abs=4 * (16 + waited))


def entries_by_connection(client: str) -> list[list[bytes]]:
    """Return the names of the entries in the answers to each pass of one user."""
    answers: dict[socket.socket, bytes] = {}

    def way(piece: bytes, to: socket.socket) -> None:
        answers[to] = answers.get(to, b"") + piece
        to.sendall(piece)

    base = "ou=Dynamic,o=Intranet"
    with LdapDirectory(50, locales=("en_US",)) as directory, relayed(directory.port, way) as port:
        ran = in_process(
            *("ils", "run", "ils-user", "--target", f"ldap://127.0.0.1:{port}", "--base", base),
            *("--entries", "50", "--locales", "en_US", "--users", "1", "--client", client),
            *("--session", "20ms", "--warmup", "0s", "--measure", "2s"),
        )
    assert ran.code == 0, ran.err
    found = [re.findall(rb"cn=([^,]+),ou=Dynamic", each) for each in answers.values()]
    # The listed people, four lookups and the user itself, twice; the last pass may be incomplete.
    return [each for each in found if len(each) == 50 + 4 + 2]


@pytest.mark.parametrize("client", ["native", "ldap3"])
def test_last_two_steps_of_table_3_keep_the_registered_user_online(client: str) -> None:
    """They looked up the person of step 7 again, so no user was kept online."""
    passes = entries_by_connection(client)
    assert len(passes) >= 3
    assert {name for each in passes for name in each[-2:]} == {passes[0][-1]}
    assert len({name for each in passes for name in each[-6:-2]}) > 5


def test_last_two_steps_set_the_time_to_live_in_the_ils_profile() -> None:
    for profile, kept in (("ils", 2), ("paper", 0)):
        assert built_in("ils-user", profile, 5.0).text.count("(cn={self.cn})(sttl=10)") == kept
    assert built_in("ils-user", "ils", 5.0).writes
    assert not built_in("ils-user", session_s=5.0).writes


# The ILS user thinks for minutes: its rate is that of sessions, and none is censored.

USERS, SESSION_S = 20, 0.5


def test_ils_users_reach_the_rate_of_their_sessions_without_censored_latencies() -> None:
    point = in_process(
        *("ils", "run", "ils-user", "--entries", 100, "--locales", "en_US", "--json"),
        *("--session", "500ms", "--users", USERS, "--threads", 1, "--timeout", "200ms"),
        *("--warmup", "1s", "--measure", "4s"),
    ).point
    assert (point["failures"], point["censored_us"]["n"]) == (0, 0)
    # A pass includes its think times, and a user begins the next pass at its end.
    pass_s = point["latency_us"]["mean"] / 1e6
    assert pass_s >= SESSION_S
    assert point["ops_per_s"] == pytest.approx(USERS / pass_s, rel=0.3)
    assert point["thinking"] <= USERS
