"""One test of a bridge after the other, with a workload that does nothing."""

from tests.support.in_locust import in_locust

IDLE = """
import json
import gevent
from locust.env import Environment
from sitebench.bridge import Bridge
from sitebench.lanes import Session
from sitebench.monitor import Monitor
from sitebench.windows import Windows
from sitebench.workload import Recording
from tests.support.drains import Drain

class Source:
    def __init__(self):
        self.drained_by = []
    def drain(self):
        self.drained_by.append(gevent.getcurrent())
        return Drain(0, 1)
    def stop(self, timeout_s):
        return Drain(0, 1)

class Idle:
    def __init__(self):
        self.sources = []
    def prepare(self, environment, places, preparing):
        return {"url": "", "warmup_s": 0.0, "measure_s": None}
    def record(self, prepared):
        return Recording(None, Windows(Monitor(None)), lambda windows: None)
    def open(self, prepared, place):
        self.sources.append(Source())
        return Session(self.sources[-1], threads=0, client="idle")

environment = Environment()
environment.create_local_runner()
workload = Idle()
bridge = Bridge(environment, workload)

def begin(drains):
    environment.events.test_start.fire(environment=environment)
    while len(workload.sources[-1].drained_by) < drains:
        gevent.sleep(0.01)
    return workload.sources[-1].drained_by
"""


def test_a_test_that_begins_as_the_one_before_ends_is_drained_by_one() -> None:
    found = in_locust(
        """
        first = set(begin(1))
        bridge.finish()
        second = set(begin(4))
        print(json.dumps([len(first), len(second), len(first & second)]))
        """,
        IDLE,
    )
    assert found == [1, 1, 0]
