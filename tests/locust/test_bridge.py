"""Consecutive tests of one bridge, with a suite that does nothing."""

from tests.support.in_locust import in_locust

IDLE = """
import json
import time
import gevent
from locust.env import Environment
from sitebench._engine import EngineError
from sitebench.locust.bridge import Bridge
from sitebench.locust.lanes import Lanes
from sitebench.measure.options import LoadOptions
from sitebench.monitor.monitor import Monitor
from sitebench.runs.windows import Windows
from sitebench.measure.test import Test
from sitebench.locust.recorder import Observed, Recording
from tests.support.points import a_spec
from tests.support.drains import Drain

class Source:
    def __init__(self):
        self.drained_by = []
        self.stopped = False
    def drain(self):
        if self.stopped:
            raise EngineError("the engine is stopped")
        self.drained_by.append(gevent.getcurrent())
        return Drain(0, 1)
    cut = drain
    def stop(self, timeout_s):
        self.stopped = True
        time.sleep(0.1)
        return Drain(0, 1)

class Unobserved:
    observed = Observed()

class Waiting:
    tasks = (lambda user: None,)

class Idle:
    def __init__(self):
        self.sources, self.warmup_s = [], 0.0
    def lane_classes(self, users):
        return [Waiting]
    point = None
    def prepare(self, environment, processes, preparing):
        options = LoadOptions(warmup=self.warmup_s, measure=None, timeout=1.0)
        return Test(spec=a_spec(), options=options, user_classes=())
    def record(self, test):
        return Recording(Unobserved, Windows(Monitor(None)), lambda windows: None)
    def open(self, test, slot):
        self.sources.append(Source())
        return Lanes(environment, self.sources[-1], threads=0, client="idle")

environment = Environment()
environment.create_local_runner()
suite_run = Idle()
bridge = Bridge(environment, suite_run)

def begin(drains):
    environment.events.test_start.fire(environment=environment)
    while len(suite_run.sources[-1].drained_by) < drains:
        gevent.sleep(0.01)
    return suite_run.sources[-1].drained_by
"""


def test_second_test_has_its_own_single_drain_loop() -> None:
    found = in_locust(
        """
        first = set(begin(1))
        bridge.role.finish()
        second = set(begin(4))
        print(json.dumps([len(first), len(second), len(first & second)]))
        """,
        IDLE,
    )
    assert found == [1, 1, 0]


def test_stop_while_the_last_user_starts_ends_cleanly() -> None:
    found = in_locust(
        """
        begin(1)
        ending = gevent.spawn(bridge.role.finish)
        gevent.sleep(0.02)
        environment.events.spawning_complete.fire(user_count=1)
        ending.join()
        print(json.dumps([bridge.role.failed, environment.process_exit_code]))
        """,
        IDLE,
    )
    assert found == [False, None]


def test_stop_at_the_end_of_the_warm_up_ends_cleanly() -> None:
    found = in_locust(
        """
        suite_run.warmup_s = 0.05
        begin(1)
        environment.events.spawning_complete.fire(user_count=1)
        gevent.sleep(0.02)
        bridge.role.finish()
        gevent.sleep(0.1)
        print(json.dumps([bridge.role.failed, environment.process_exit_code]))
        """,
        IDLE,
    )
    assert found == [False, None]
