import json

from sitebench._engine import Scenario
from tests.support.cli import in_process
from web_bench.suite import SUITE
from web_bench.workload import built_in, text_of


def test_workloads_are_listed_with_title_and_paper() -> None:
    lines = in_process("web", "operations", COLUMNS="250").check(0).out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.strip()}
    for name in SUITE.operations:
        facts = json.loads(Scenario(text_of(name)).facts)
        assert facts["title"] in rows[name]
        assert facts["paper"] in rows[name]


def test_printed_file_of_a_workload_is_its_scenario() -> None:
    shown = in_process("web", "operations", "--show", "ecommerce-cgi").check(0).out
    assert shown == built_in()["ecommerce-cgi"].text
