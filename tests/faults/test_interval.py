"""The interval printed at a load generator's limit contains the rate measured without that limit.

One target, with a fixed share of a core, is measured by a limited load generator and by one without
a limit: the rate of the second lies between the bounds of the first. It may exceed the rate that
the first CPU cost allows: a site with 2,270/s at 42 us each reached 8,720/s later, which is more
than 0.3 cores / 42 us = 7,130/s.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.tables.tables import attempts
from tests.faults.groups import cpu_quota
from tests.faults.holding import DIRECTORY, GENERATOR, SITE, SLAPD, Pids, measured, pin, put_ahead

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

LOAD = ("--entries", "1k", "--users", "64", "--threads", "1")


@pytest.mark.parametrize(
    ("operation", "target", "share", "testers"),
    [
        (("ils", "run", "lookup"), DIRECTORY, 0.3, 0.15),
        (("ils", "run", "lookup", "--target", "openldap"), SLAPD, 0.5, 0.05),
        (("ps", "run", "page"), SITE, 0.3, 0.15),
    ],
    ids=["directory", "slapd", "site"],
)
def test_interval_at_the_generators_limit_contains_the_targets_limit(
    operation: tuple[str, ...], target: str, share: float, testers: float, tmp_path: Path
) -> None:
    with cpu_quota(share) as little, cpu_quota(testers) as less:

        def both(pids: Pids) -> None:
            little.add(pids[target])
            less.add(pids[GENERATOR])

        def target_only(pids: Pids) -> None:
            little.add(pids[target])
            put_ahead(pids[GENERATOR])

        (tmp_path / "held").mkdir()
        held = measured(tmp_path / "held", *operation, *LOAD, held=both)
        free = measured(tmp_path, *operation, *LOAD, held=target_only, spared="generator")
    _assert_in_the_interval(held, free)


def test_interval_contains_the_limit_of_a_slapd_on_one_core(tmp_path: Path) -> None:
    """Measured by a load generator that has the other cores for itself."""
    core, *others = sorted(os.sched_getaffinity(0))
    lookup = ("ils", "run", "lookup", "--target", "openldap", *LOAD)
    with cpu_quota(0.05) as less:

        def held_back(pids: Pids) -> None:
            pin(pids[SLAPD], {core})
            less.add(pids[GENERATOR])

        def alone(pids: Pids) -> None:
            pin(pids[SLAPD], {core})
            pin(pids[GENERATOR], set(others))

        (tmp_path / "held").mkdir()
        held = measured(tmp_path / "held", *lookup, held=held_back)
        free = measured(tmp_path, *lookup, held=alone, spared="generator")
    _assert_in_the_interval(held, free)


def _assert_in_the_interval(held: dict[str, Any], free: dict[str, Any]) -> None:
    assert (held["grade"], held["valid"]) == ("at least", False), held["evidence"]
    assert (free["verdict"], free["grade"]) == ("target-cpu", "measured"), free["evidence"]
    assert held["at_most_per_s"] is not None, held["evidence"]
    assert held["ops_per_s"] < free["ops_per_s"] < held["at_most_per_s"], held["evidence"]


def test_point_at_the_generator_limit_is_tried_with_one_more_thread(tmp_path: Path) -> None:
    """The first try is limited; the second, in another process, is not."""
    with cpu_quota(0.15) as testers:
        point = measured(
            tmp_path,
            *("ils", "run", "lookup", "--entries", "1k", "--users", "64"),
            held=lambda pids: testers.add(pids[GENERATOR]),
        )
    (run,) = tmp_path.glob("*.sitebench")
    with RunFile(run) as file:
        first, second = file.results()
    assert (first.verdict.grade, first.spec.threads) == ("at least", None)
    assert second.spec.threads == len(second.generator_cpu_s) == len(first.generator_cpu_s) + 1
    assert second.ops_per_s > first.ops_per_s
    assert point["ops_per_s"] == second.ops_per_s
    assert point["spec"]["threads"] == second.spec.threads
    (line,) = attempts([first, second])
    assert line.startswith("lookup at 1k, 64 clients: at least ")
    assert line.endswith(f"with --threads {second.spec.threads}, which counts.")
