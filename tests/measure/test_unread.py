"""A stopped load generator: waits of received answers are reported, and not as the target's."""

import contextlib
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from sitebench._engine import Directory
from sitebench.targets.ownership import FLAG
from tests.measure.test_window_edge import ran_beside
from tests.support.children import children
from tests.support.people import small_population
from tests.support.relay import delaying, relayed

ANSWER_S = 0.005
STOPPED_S = 0.04


@pytest.mark.parametrize("stopped", [True, False])
def test_answers_unread_by_a_stopped_generator_are_detected(tmp_path: Path, stopped: bool) -> None:
    directory = Directory("{}", small_population(200))

    def stop_often(_: float) -> None:
        [generator] = children(os.getpid(), "sitebench.locust.runner")
        # A process that has ended needs no more stops.
        with contextlib.suppress(psutil.NoSuchProcess):
            for _ in range(70 * stopped):
                generator.send_signal(signal.SIGSTOP)
                time.sleep(STOPPED_S)
                generator.send_signal(signal.SIGCONT)
                time.sleep(ANSWER_S)

    with relayed(directory.port, delaying(lambda _: ANSWER_S)) as port:
        ran, _ = ran_beside(
            stop_often,
            tmp_path / "run.sitebench",
            *("ils", "run", "lookup", "--target", f"ldap://127.0.0.1:{port}", "--users", 16),
            *("--entries", 20, "--locales", "en_US", "--warmup", "100ms", "--measure", "3s"),
            *("--threads", 1, "--json", FLAG),
        )
    directory.stop()
    found = ran.point
    unread, service = found["unread_us"], found["service_us"]
    assert unread["n"] == service["n"]
    assert unread["max"] <= service["max"]
    kinds = [each["kind"] for each in found["warnings"]]
    if stopped:
        # All answers except those received between two stops waited for a part of a stop.
        assert unread["max"] >= STOPPED_S * 1e6 / 2
        assert unread["mean"] >= service["mean"] / 4
        assert "answers-unread" in kinds
    else:
        assert unread["p50"] < service["p50"] / 2
