"""A starved load generator or target is named, and a starved generator has no figure.

The processes of a real run are limited by a quota of their control group, or pinned to a core that
other programs keep busy.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import holding
from tests.faults.groups import cpu_quota, unavailable
from tests.faults.holding import DIRECTORY, GENERATOR, Pids, grades, measured, put_ahead

pytestmark = pytest.mark.alone
"""CPU burners, and a process of high priority, would starve other tests."""

RUN = ("ils", "run", "lookup", "--entries", "1k", "--users", "256", "--threads", "1")
SLIVER = 0.2
RIVALS = 4


def two_cores() -> tuple[int, int]:
    """Return two cores that this process may use."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        unavailable("there is one core only")
    return usable[0], usable[1]


@contextlib.contextmanager
def with_a_sliver(of: str, other: str) -> Iterator[Callable[[Pids], None]]:
    """Yield what gives a process a quota, and puts the other one ahead."""
    with cpu_quota(SLIVER) as group:

        def held(pids: Pids) -> None:
            group.add(pids[of])
            put_ahead(pids[other])

        yield held


@contextlib.contextmanager
def beside_rivals(of: str, other: str) -> Iterator[Callable[[Pids], None]]:
    """Yield what puts a process on a core with rivals, and the other one on a core of its own."""
    crowded, free = two_cores()
    with holding.burners(RIVALS) as rivals:
        for rival in rivals:
            holding.pin(rival.pid, {crowded})

        def held(pids: Pids) -> None:
            holding.pin(pids[of], {crowded})
            holding.pin(pids[other], {free})
            put_ahead(pids[other])
            for rival in rivals:
                holding.ignite(rival)

        yield held


def test_generator_with_a_small_cpu_quota_is_the_bottleneck(tmp_path: Path) -> None:
    with with_a_sliver(GENERATOR, DIRECTORY) as held:
        point = measured(tmp_path, *RUN, held=held, spared="target")
    assert (point["verdict"], point["valid"]) == ("generator", False), point["evidence"]
    # Beside other programs the generator may not even get its quota.
    assert "quota of 0.2 cores" in point["evidence"] or "waited for a core" in point["evidence"]
    assert grades(point)["cpu"] == "no"
    assert "generator-starved" in {each["kind"] for each in point["warnings"]}


def test_target_with_a_small_cpu_quota_is_cpu_bound(tmp_path: Path) -> None:
    with with_a_sliver(DIRECTORY, GENERATOR) as held:
        point = measured(tmp_path, *RUN, held=held, spared="generator")
    assert (point["verdict"], point["valid"]) == ("target-cpu", True), point["evidence"]
    assert grades(point)["cpu"] == "primary"
    assert "0.2 cores that its quota allows" in point["evidence"]


def test_generator_sharing_its_core_with_other_programs_is_the_bottleneck(tmp_path: Path) -> None:
    with beside_rivals(GENERATOR, DIRECTORY) as held:
        point = measured(tmp_path, *RUN, held=held, spared="target")
    assert (point["verdict"], point["valid"]) == ("generator", False), point["evidence"]
    assert "its threads waited" in point["evidence"]


def test_target_sharing_its_core_with_other_programs_has_a_lower_bound(tmp_path: Path) -> None:
    with beside_rivals(DIRECTORY, GENERATOR) as held:
        point = measured(tmp_path, *RUN, held=held, spared="generator")
    assert (point["verdict"], point["grade"]) == ("others", "at least"), point["evidence"]
    assert "of the 1 core that it may use was busy" in point["evidence"]
    assert grades(point)["cpu"] == "taken"
