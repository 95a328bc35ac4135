"""The ILS user thinks for minutes: its rate is that of its sessions, and none is given up."""

import pytest

from tests.support.cli import in_process

USERS, SESSION_S = 20, 0.5


def test_rate_of_users_is_that_of_their_sessions_and_none_is_censored() -> None:
    ran = in_process(
        *("ils", "run", "ils-user", "--entries", 100, "--locales", "en_US", "--json"),
        *("--session", "500ms", "--users", USERS, "--threads", 1, "--timeout", "200ms"),
        *("--warmup", "1s", "--measure", "4s"),
    )
    assert ran.code == 0, ran.err
    (point,) = ran.objects
    assert (point["failures"], point["censored_us"]["n"]) == (0, 0)
    # A pass has its think times in it, and a user begins the next when it is over.
    pass_s = point["latency_us"]["mean"] / 1e6
    assert pass_s >= SESSION_S
    assert point["ops_per_s"] == pytest.approx(USERS / pass_s, rel=0.3)
    assert point["thinking"] <= USERS
