"""A stopped load generator: waits of received answers are reported, and not as the target's."""

import contextlib
import json
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from sitebench._engine import Directory
from sitebench.targets.ownership import FLAG
from tests.measure.test_window_edge import began_ns, ended
from tests.support.cli import SITEBENCH
from tests.support.people import small_population
from tests.support.relay import delaying, relayed
from tests.support.waiting import eventually

ANSWER_S = 0.005
STOPPED_S = 0.04


@pytest.mark.parametrize("stopped", [True, False])
def test_answers_unread_by_a_stopped_generator_are_detected(tmp_path: Path, stopped: bool) -> None:
    out, directory = tmp_path / "run.sitebench", Directory("{}", small_population(200))
    with relayed(directory.port, delaying(lambda _: ANSWER_S)) as port:
        argv = ["ils", "run", "lookup", "--target", f"ldap://127.0.0.1:{port}", "--users", "16"]
        argv += ["--entries", "20", "--locales", "en_US", "--warmup", "100ms", "--measure", "3s"]
        argv += ["--threads", "1", "--out", str(out), "--json", FLAG]
        with ended(subprocess.Popen([*SITEBENCH, *argv], stdout=-1, text=True)) as process:
            assert eventually(lambda: began_ns(out) is not None)
            tester = psutil.Process(process.pid).children(recursive=True)
            for _ in range(70 * stopped):
                # A process that has ended meanwhile needs no stop.
                for each in tester:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        each.send_signal(signal.SIGSTOP)
                time.sleep(STOPPED_S)
                for each in tester:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        each.send_signal(signal.SIGCONT)
                time.sleep(ANSWER_S)
            printed, _ = process.communicate()
    directory.stop()
    found = json.loads(printed)
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
