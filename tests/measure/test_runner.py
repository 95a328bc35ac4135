"""One process measures consecutive points, and keeps no data of a point."""

import json
import os
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from msgspec import structs

from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.address import DirectoryAddress
from sitebench.errors import SitebenchError
from sitebench.measure.options import MeasureOptions
from sitebench.measure.point_process import Runner
from sitebench.measure.test import Test
from sitebench.options.option import combine
from sitebench.runs.store import RunStore
from sitebench.suite_base.options import Part
from sitebench.suite_base.points import untold
from sitebench.targets.tls import Trust
from tests.support.children import children

OPERATIONS = ("lookup", "add", "connect", "retrieve")
MIB = 1 << 20
LOCUSTFILE = """
import gc, json
from pathlib import Path
import gevent, psutil
from greenlet import greenlet
from locust import events
from ils_bench.locustfile import *

def count(**_):
    gevent.sleep(0.05)  # What ended the test ends.
    gc.collect()
    process = psutil.Process()
    counts = {
        "threads": process.num_threads(),
        "descriptors": process.num_fds(),
        "greenlets": sum(isinstance(x, greenlet) and not x.dead for x in gc.get_objects()),
    }
    with Path(__file__).with_suffix(".json").open("a") as file:
        file.write(json.dumps(counts) + "\\n")

def begin(environment, **_):
    environment.events.quit.add_listener(count)

events.init.add_listener(begin)
"""
"""The suite's locustfile, with the number of live objects of each kind after a point."""


@contextmanager
def opened(folder: Path, measure_s: float = 0.2) -> Iterator[tuple[list[Test], RunStore, Runner]]:
    """Yield tests of a directory, a run file, and a runner."""
    options = combine(MeasureOptions, IlsOptions)(
        entries=100, locales=("en_US",), users=2, threads=1, warmup=0.1, measure=measure_s
    )
    stage = POINTS.stage(Part(options, OPERATIONS), untold, reused=True)
    with stage.open() as target, RunStore(folder / "run") as store, Runner() as runner:
        yield [test.at(target) for test in stage.tests], store, runner


def processes() -> list[psutil.Process]:
    return children(os.getpid(), "sitebench.locust.runner")


@pytest.mark.parametrize(
    "rounds", [2, pytest.param(13, marks=[pytest.mark.long, pytest.mark.alone])]
)
def test_process_keeps_no_data_of_earlier_points(tmp_path: Path, rounds: int) -> None:
    """With many rounds, the last points also cost as much CPU as they cost a new process."""
    own = tmp_path / "own.py"
    own.write_text(LOCUSTFILE)
    order, memory = random.Random(5), list[int]()
    ratios: dict[str, list[float]] = {name: [] for name in OPERATIONS}
    with opened(tmp_path, 0.3 if rounds == 2 else 2.0) as (tests, store, runner):

        def cpu_s(runner: Runner, test: Test) -> float:
            """Return the load generator's CPU time per operation."""
            result = runner.run(replace(test, locustfile=own), store)
            store.confirm(test.spec)
            assert result.operations > 0
            return sum(result.generator_cpu_s) / result.operations

        used = set[int]()
        for number in range(rounds):
            for test in order.sample(tests, len(tests)):
                old_s = cpu_s(runner, test.again(structs.replace(test.spec, repeat=number)))
                [process] = processes()
                used.add(process.pid)
                time.sleep(0.1)  # by then memory has been freed
                memory.append(process.memory_info().rss)
                if 2 < rounds <= number + 3:
                    with Runner() as new:
                        spec = structs.replace(test.spec, repeat=rounds + number)
                        ratio = old_s / cpu_s(new, test.again(spec))
                    ratios[test.spec.operation].append(ratio)
        assert len(used) == 1
    assert processes() == []
    counts = [json.loads(line) for line in own.with_suffix(".json").read_text().splitlines()]
    # Objects that are created on first use exist after one round.
    settled = counts[len(OPERATIONS) - 1 : len(OPERATIONS) * max(2, rounds - 3)]
    for kind in ("threads", "descriptors", "greenlets"):
        assert len({each[kind] for each in settled}) == 1, (kind, counts)
    if rounds > 2:
        print("MiB after each point:", [round(each / MIB, 1) for each in memory])
        print("CPU per operation, old process by new:", ratios)
        assert max(memory[9:]) <= memory[9] + 5 * MIB
        medians = [statistics.median(of_operation) for of_operation in ratios.values()]
        assert statistics.geometric_mean(medians) == pytest.approx(1.0, abs=0.03), medians


def broken(test: Test) -> Test:
    """Return the test with invalid certificate authorities."""
    address = DirectoryAddress("127.0.0.1", test.target.address.port, "ldaps")
    return replace(test, opened=replace(test.target, address=address, trust=Trust(ca_pem="none")))


def test_failed_point_ends_its_process_and_the_next_point_has_a_new_one(tmp_path: Path) -> None:
    with opened(tmp_path) as ((first, second, *_), store, runner):

        def measured(test: Test) -> int:
            assert runner.run(test, store).operations > 0
            [process] = processes()
            return process.pid

        pid = measured(first)
        with pytest.raises(SitebenchError, match="certificate"):
            runner.run(broken(second), store)
        assert processes() == []
        assert measured(second) != pid


def test_points_of_two_locustfiles_have_separate_processes(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("from ils_bench.locustfile import LookupUser\n")
    with opened(tmp_path) as ((test, *_), store, runner):
        used = set[int]()
        for file in (test.locustfile, tmp_path / "own.py"):
            runner.run(replace(test, locustfile=file), store)
            [process] = processes()
            used.add(process.pid)
        assert len(used) == 2
