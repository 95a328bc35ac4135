"""Verdicts on a point with workers: a worker that invalidates it is named with a remedy."""

import json
from typing import Any

from msgspec.structs import replace

from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor.use import MachineUse, ProcessUse, Use
from sitebench.runs.point import PointResult
from sitebench.system.machine import this_machine
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.verdict import Bound, Verdict, judge
from sitebench.verdict.workers import apply_workers, use_of_all
from tests.support.points import a_spec, a_tally, a_use, summarised


def a_worker(index: int, cpu_s: float = 0.5, **other: Any) -> WorkerSeen:
    """Return a worker on its own machine, whose thread used `cpu_s` of 2 s."""
    machine = MachineUse(busy_per_core=(0.4, 0.4), available_bytes=1)
    use = Use(seconds=2.0, generator=ProcessUse(cpu_s + 0.05, 1_000), machine=machine)
    made = WorkerSeen(
        index, f"host-{index}", f"10.0.0.{index + 2}", 10, f"boot-{index}", "native", 2.0, 1_000
    )
    return replace(
        made, cpu_s=(cpu_s,), use=use, **{"round_trip_s": 1e-4, "skew_s": 0.001, **other}
    )


def evidence() -> Evidence:
    return Evidence(
        seconds=2.0,
        operations=20_000,
        failures_by_kind={},
        generator_cpu_s=(0.5, 0.5),
        use=a_use(target_cpu_s=0.4),
        target_cores=1,
    )


def verdict(*workers: WorkerSeen, expected: int = 2) -> Verdict:
    return apply_workers(judge(evidence()), evidence(), workers, expected)


def kinds(found: Verdict) -> set[str]:
    return {warning.kind for warning in found.warnings} & {
        "worker-lost",
        "workers-missing",
        "clock-skew",
    }


def test_healthy_workers_do_not_change_the_verdict() -> None:
    assert verdict(a_worker(0), a_worker(1)) == judge(evidence())


def test_lost_worker_is_named_and_point_is_invalid() -> None:
    found = verdict(a_worker(0), a_worker(1, ended="lost"))
    assert (found.bound, found.valid) == (Bound.GENERATOR, False)
    assert "worker 1 (host-1, 10.0.0.3)" in found.evidence
    assert kinds(found) == {"worker-lost"}
    assert all(warning.remedy for warning in found.warnings)


def test_lost_operations_make_the_point_invalid() -> None:
    found = verdict(a_worker(0, missing=3), a_worker(1))
    assert not found.valid
    assert "3 operations that it did were never reported" in found.evidence


def test_missing_workers_are_only_a_warning() -> None:
    found = verdict(a_worker(0), expected=2)
    assert found.valid
    assert kinds(found) == {"workers-missing"}


def test_worker_at_its_ceiling_is_named_and_point_is_invalid() -> None:
    found = verdict(a_worker(0), a_worker(1, cpu_s=1.99))
    assert (found.bound, found.valid) == (Bound.GENERATOR, False)
    assert found.evidence.startswith("worker 1 (host-1, 10.0.0.3): ")


def test_worker_and_target_at_their_ceilings_give_a_lower_bound() -> None:
    seen = replace(evidence(), use=a_use(target_cpu_s=1.99))
    before = judge(seen)
    assert before.valid
    after = apply_workers(before, seen, (a_worker(0, cpu_s=1.99),), 1)
    assert (after.bound, after.valid) == ("generator", False)


def test_clock_skew_is_a_warning() -> None:
    assert kinds(verdict(a_worker(0), a_worker(1, skew_s=0.1))) == set()
    assert kinds(verdict(a_worker(0), a_worker(1, skew_s=-3.0))) == {"clock-skew"}
    assert kinds(verdict(a_worker(0), a_worker(1, round_trip_s=2.0))) == {"clock-skew"}


def test_generator_cpu_is_that_of_the_workers_on_the_busiest_machine() -> None:
    here = a_use()
    found = use_of_all(here, (a_worker(0), a_worker(1, cpu_s=0.9)))
    assert found.generator.cpu_s == 0.55 + 0.95
    assert found.machine.available_bytes == 1
    assert found.target_machine == here.machine
    assert not found.target_is_local


def test_worker_on_the_targets_machine_shares_its_cores() -> None:
    here = a_use()
    found = use_of_all(here, (a_worker(0), a_worker(1, machine=this_machine())))
    assert found.machine == here.machine
    assert found.target_is_local


def test_workers_survive_serialisation() -> None:
    workers = (a_worker(0), a_worker(1, ended="left"))
    result = summarised(a_tally(), a_spec(settings={"workers": "2"}), workers=workers)
    assert PointResult.read(json.loads(json.dumps(result.to_json()))) == result
    assert not result.verdict.valid
