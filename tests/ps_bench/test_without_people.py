"""A web site without users: every visitor is the same anonymous one."""

import json
from collections.abc import Iterator

import pytest

from ps_bench.options import PsOptions
from ps_bench.points import engine_config
from sitebench._engine import Engine, StepStats
from sitebench.http.address import SiteAddress
from sitebench.http.site import OpenSite
from sitebench.scenario.script import from_text
from sitebench.suite_base.points import Load
from tests.support.http_server import page
from tests.support.waiting import eventually

SCENARIO = from_text(
    "files",
    '[[operation]]\nname = "file"\nget = "/file"\nexpect = { length = 5, contains = "hello" }\n',
)
OPTIONS = PsOptions(entries=1, threads=1)


@pytest.fixture
def address() -> Iterator[SiteAddress]:
    with page(b"hello") as server:
        yield SiteAddress("127.0.0.1", server.server_port)


def test_native_lanes_send_requests_of_one_anonymous_visitor(address: SiteAddress) -> None:
    config = engine_config(Load(OPTIONS, OpenSite("site", address), [SCENARIO]))
    assert json.loads(config)["target"]["size"] == 1
    engine = Engine(config, None)
    engine.start_lanes("files", 1)
    found: list[StepStats] = []

    def answered() -> bool:
        found.extend(each for each in engine.drain().steps if each.step == "get")
        return any(each.count for each in found)

    assert eventually(answered)
    found += engine.stop().steps
    assert [each.failures for each in found if each.failures] == []
