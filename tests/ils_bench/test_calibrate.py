import json

from tests.support.cli import in_process


def test_calibrate_measures_client_and_server_cpu_of_floor_and_engine() -> None:
    ran = in_process("calibrate", "--repeats", "1", "--json").check(0)
    found = json.loads(ran.out)["floor"]
    assert list(found) == [
        "exchange, 64 connections",
        "exchange, 1 connection",
        "connect, bind, close",
    ]
    for values in found.values():
        for side in ("floor", "engine"):
            between_us = 1e6 / values[f"{side}_per_s"]
            # With one thread on each side, neither can use more CPU time than passes between two
            # operations.
            for cpu in ("cpu_us", "server_cpu_us"):
                assert 0 < values[f"{side}_{cpu}"] < 1.1 * between_us, (side, cpu)
