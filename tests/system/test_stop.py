import os
import signal
import sys
from contextlib import closing

from sitebench.system.stop import Stop
from tests.support.programs import run_program
from tests.support.waiting import left_s

ROUNDS = """
import random, signal
from contextlib import closing
from sitebench.system.stop import Stop

for _ in range(3_000):
    with closing(Stop()) as stop, stop.on_signals(signal.SIGALRM):
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + random.random() * 3e-5)
        assert stop.wait(30)
print("ended")
"""


def test_signal_at_any_time_ends_the_wait() -> None:
    """An event of `threading` hangs within a few hundred rounds."""
    ran = run_program([sys.executable, "-c", ROUNDS])
    assert ran.stdout == "ended\n", ran


def test_signal_sets_a_stop_permanently_and_the_old_handler_is_restored() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    heard: list[int] = []
    with closing(Stop()) as stop:
        with stop.on_signals(signal.SIGUSR1, handler=lambda number, _: heard.append(number)):
            assert not stop.wait(0.01)
            os.kill(os.getpid(), signal.SIGUSR1)
            assert stop.wait(left_s())
        assert stop.wait(0)
    assert heard == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) == before
    assert signal.set_wakeup_fd(-1) == -1


def test_stop_may_be_set_repeatedly() -> None:
    with closing(Stop()) as stop:
        for _ in range(100_000):
            stop.set()
        assert stop.wait()
