import json

import msgspec
import pytest
from msgspec.structs import replace

from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.steady import Settled, Steadiness
from sitebench.counts.worker_seen import WorkerSeen
from sitebench.monitor.use import DiskUse
from sitebench.verdict.evidence import Evidence, OtherLoad, PoolUse
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.verdict import Bound, Quoted, Verdict, judge
from sitebench.verdict.warning import PointWarning
from sitebench.verdict.workers import apply_workers
from tests.support.evidence import (
    changed,
    evidence,
    with_generator,
    with_machine,
    with_target,
    with_use,
)

QUIET = evidence()


@pytest.mark.parametrize(
    ("target_cpu_s", "generator_cpu_s", "bound", "valid"),
    [
        (9.9, (5.0,), Bound.TARGET_CPU, True),
        (5.0, (9.9,), Bound.GENERATOR, False),
        (5.0, (5.0,), Bound.UNDECIDED, True),
        (9.9, (9.9,), Bound.GENERATOR, False),
    ],
)
def test_side_with_full_cores_is_the_bottleneck(
    target_cpu_s: float, generator_cpu_s: tuple[float, ...], bound: Bound, valid: bool
) -> None:
    seen = with_target(changed(QUIET, generator_cpu_s=generator_cpu_s), cpu_s=target_cpu_s)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (bound, valid)


@pytest.mark.parametrize(
    ("generator_cpu_s", "bound", "valid"),
    [((9.9,), Bound.GENERATOR, False), ((5.0,), Bound.UNDECIDED, True)],
)
def test_verdict_without_a_monitored_target_is_that_of_the_generator(
    generator_cpu_s: tuple[float, ...], bound: Bound, valid: bool
) -> None:
    unseen = with_use(QUIET, target=None, target_is_local=False)
    verdict = judge(replace(unseen, generator_cpu_s=generator_cpu_s))
    assert (verdict.bound, verdict.valid) == (bound, valid)
    grades = {finding.resource: finding.grade for finding in verdict.findings}
    assert grades[Resource.CPU] == grades[Resource.MEMORY] == grades[Resource.DISK] == Grade.UNKNOWN


def test_staged_rate_has_no_target_limit_but_may_have_a_generator_limit() -> None:
    stages = Settled(Steadiness.STAGED, "its load changed by stages")
    full = changed(with_target(QUIET, cpu_s=9.9), settled=stages)
    verdict = judge(full)
    assert (verdict.bound, verdict.valid) == (Bound.STAGED, True)
    assert verdict.evidence.startswith("its load changed by stages; over all of them ")
    verdict = judge(changed(full, generator_cpu_s=(9.9,)))
    assert (verdict.bound, verdict.valid) == (Bound.GENERATOR, False)


def test_starved_generator_yields_no_rate_of_the_target() -> None:
    crowded = with_machine(QUIET, busy_per_core=(1.0, 1.0))
    starved = with_generator(with_target(crowded, cpu_s=2.0, waited_s=8.0), waited_s=6.0)
    own = replace(starved, generator_cpu_s=(3.0,))
    verdict = judge(own)
    assert (verdict.bound, verdict.grade) == (Bound.OTHERS, Quoted.AT_LEAST)
    assert "other programs used 1.50" in verdict.evidence
    # The same holds beside a load generator whose target is on another machine.
    far = judge(with_use(own, target=None, target_is_local=False))
    assert (far.bound, far.grade) == (Bound.OTHERS, Quoted.AT_LEAST)
    assert "other programs used 1.70 cores of this machine" in far.evidence
    # If target and load generator themselves fill the machine, both are at their ceiling.
    ours = with_target(with_generator(own, cpu_s=8.0, waited_s=6.0), cpu_s=9.0, waited_s=1.0)
    assert (judge(ours).bound, judge(ours).valid) == (Bound.GENERATOR, False)
    assert "the load generator and the target's CPU were used up" in judge(ours).evidence


def test_starved_target_has_only_a_lower_bound() -> None:
    """The point was valid, "measured", at an eighth of the same server's rate with its core."""
    crowded = with_machine(QUIET, busy_per_core=(1.0, 1.0))
    starved = replace(with_target(crowded, cpu_s=2.5, waited_s=7.3), generator_cpu_s=(3.0,))
    verdict = judge(starved)
    assert (verdict.bound, verdict.grade) == (Bound.OTHERS, Quoted.AT_LEAST)
    assert "other programs used 1." in verdict.evidence
    # Other programs on other cores take none of the target's, if the load generator uses those
    # cores.
    apart = with_target(starved, allowed_cores=(0,))
    elsewhere = with_machine(apart, busy_per_core=(1.0, 1.0, 1.0, 1.0))
    assert judge(with_generator(elsewhere, cpu_s=6.0)).bound == Bound.TARGET_CPU
    assert judge(with_generator(elsewhere, allowed_cores=(1,))).bound == Bound.OTHERS
    # The target's own quota is its own limit.
    quiet = with_machine(starved, busy_per_core=(0.5, 0.5))
    assert judge(with_target(quiet, quota_cores=0.25)).bound == Bound.TARGET_CPU


def test_saturated_generator_is_the_bottleneck_even_if_other_programs_use_a_disk() -> None:
    seen = with_target(changed(QUIET, generator_cpu_s=(9.9,)), written_bytes=1_000_000)
    verdict = judge(with_machine(seen, disks=(DiskUse("sda", 0, 10**9, 1.0, 8),)))
    assert (verdict.bound, verdict.valid) == (Bound.GENERATOR, False)


def test_kept_rate_is_limited_by_the_schedule() -> None:
    assert judge(changed(QUIET, rate=10_000.0)).bound == Bound.SCHEDULE
    assert judge(changed(QUIET, rate=20_000.0)).bound == Bound.UNDECIDED


def test_random_arrivals_may_be_fewer_than_average_but_not_by_much() -> None:
    # A thousand are due on average, with a standard deviation of 32.
    few = changed(QUIET, rate=1_000.0 / QUIET.seconds, operations=920)
    assert judge(few).bound == Bound.UNDECIDED
    assert judge(replace(few, arrivals="poisson")).bound == Bound.SCHEDULE
    assert judge(replace(few, arrivals="poisson", operations=850)).bound == Bound.UNDECIDED


def test_point_without_success_is_failed() -> None:
    verdict = judge(changed(QUIET, operations=0, failures_by_kind={"timeout": 7}))
    assert (verdict.bound, verdict.valid) == (Bound.FAILED, False)
    assert "timeout x 7" in verdict.evidence


def test_evidence_of_a_verdict_names_both_sides() -> None:
    said = judge(QUIET).evidence
    assert "the target used 40% of its 1 core" in said
    assert "generator thread was on a core 30%" in said


def test_leak_of_another_users_data_invalidates_any_point() -> None:
    verdict = judge(with_target(changed(QUIET, failures_by_kind={"leak": 1}), cpu_s=9.9))
    assert (verdict.bound, verdict.valid) == (Bound.LEAK, False)
    assert "another user's data" in verdict.evidence


def test_rate_that_never_settled_is_invalid() -> None:
    drifting = Settled(Steadiness.UNSETTLED, "not steady: throughput changed by +20%", 20.0)
    verdict = judge(with_target(changed(QUIET, settled=drifting), cpu_s=9.9))
    assert (verdict.bound, verdict.valid) == (Bound.UNSETTLED, False)
    assert "+20%" in verdict.evidence
    assert verdict.findings[0].grade == Grade.PRIMARY


def test_bottleneck_table_has_the_papers_rows_in_the_papers_order() -> None:
    found = [finding.resource for finding in judge(QUIET).findings]
    assert found == ["cpu", "network", "memory", "operating-system", "software", "disk"]


def test_single_used_up_resource_is_the_bound() -> None:
    seen = with_machine(QUIET, pressure={"io.some": 0.8, "io.full": 0.7})
    seen = with_target(seen, written_bytes=1_000_000)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.DISK, True)
    assert "80% of the time tasks on the machine waited for disks" in verdict.evidence


def test_two_used_up_resources_leave_the_bound_undecided() -> None:
    seen = with_machine(QUIET, pressure={"io.some": 0.8})
    seen = with_target(seen, written_bytes=1_000_000, cpu_s=9.9)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.UNDECIDED, True)
    assert "the target's CPU and the target's disk are used up" in verdict.evidence


def test_verdict_survives_serialisation() -> None:
    law = LittlesLaw(64.0, 60.0, -0.06, False, "time is missing")
    verdict = judge(with_target(changed(QUIET, little=law), cpu_s=9.9))
    assert verdict.warnings
    assert msgspec.convert(json.loads(json.dumps(verdict.to_json())), Verdict) == verdict


def test_unknown_values_of_newer_versions_are_preserved() -> None:
    newer = Finding("gpu", "certain", "it glowed")
    verdict = Verdict("unseen", True, "it stood still", (newer,))
    assert msgspec.convert(verdict.to_json(), Verdict) == verdict


def test_generators_limit_is_a_lower_bound_and_the_targets_cpu_an_upper_bound() -> None:
    # 10,000/s at 90 us each: a tenth of its core is idle, so an operation may take 90 / 1.24 = 72.6
    # us.
    seen = with_target(changed(QUIET, generator_cpu_s=(9.9,)), cpu_s=9.0 - 1e-9)
    verdict = judge(seen)
    assert (verdict.bound, verdict.grade) == (Bound.GENERATOR, Quoted.AT_LEAST)
    assert verdict.at_most_per_s == pytest.approx(1e6 / 90 * 1.24)
    assert "at least 10,000/s (measured); at most 13,778/s (its 1 core" in verdict.evidence
    # With more cores, or with a less used core, a higher rate is possible.
    several = judge(replace(seen, target_cores=4)).at_most_per_s
    assert several == pytest.approx(4e6 / 90 * (1 + 2.4 * (1 - 0.225)))
    full = judge(with_target(seen, cpu_s=10.5))
    assert full.at_most_per_s == 10_000


def test_target_that_used_more_than_its_cores_has_no_upper_bound() -> None:
    """CGI behind a server of one thread: 139 % of "its 1 core", and at most its measured rate."""
    seen = with_target(changed(QUIET, generator_cpu_s=(9.9,)), cpu_s=13.9)
    verdict = judge(seen)
    assert (verdict.grade, verdict.at_most_per_s) == (Quoted.AT_LEAST, None)
    assert "139 % of its 1 core, which is more than there is" in verdict.evidence.replace("%", " %")
    alone = judge(with_target(QUIET, cpu_s=13.9))
    assert alone.bound != Bound.TARGET_CPU


def test_upper_bound_is_never_below_the_rate_of_another_load_of_the_run() -> None:
    seen = with_target(changed(QUIET, generator_cpu_s=(9.9,)), cpu_s=9.0)
    slower, faster = OtherLoad(0.9, 1e-4), OtherLoad(0.9, 0.9 / 14_000)
    assert judge(replace(seen, other_loads=(slower,))).at_most_per_s is not None
    for loads in ((faster,), (faster, slower), (slower, faster)):
        assert judge(replace(seen, other_loads=loads)).at_most_per_s is None


LIMIT = 20_000.0
"""The rate of an invented target of one core that uses all of its CPU."""


def loaded(per_s: float, falls: float) -> tuple[float, float]:
    """Return the CPU share of this target at a rate, and its CPU time per operation.

    At a share u of its CPU an operation takes 1 / LIMIT / u ** falls.
    """
    used = (per_s / LIMIT) ** (1 / (1 + falls))
    return used, used / per_s


def interval(per_s: float, falls: float, *others_per_s: float) -> tuple[float, float]:
    """Return the interval of this target's limit that a used-up load generator leaves."""
    others = (loaded(each, falls) for each in others_per_s)
    seen = replace(
        with_target(QUIET, cpu_s=10 * loaded(per_s, falls)[0]),
        generator_cpu_s=(9.9,),
        operations=round(10 * per_s),
        other_loads=tuple(OtherLoad(*each) for each in others),
    )
    verdict = judge(seen)
    assert verdict.grade == Quoted.AT_LEAST
    assert verdict.at_most_per_s is not None
    return per_s, verdict.at_most_per_s


@pytest.mark.parametrize("falls", [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("per_s", [10_000.0, 16_000.0])
def test_target_limit_lies_in_the_interval_of_two_loads(per_s: float, falls: float) -> None:
    lighter, heavier = per_s / 4, per_s
    low, high = interval(heavier, falls, lighter)
    assert low < LIMIT <= high * (1 + 1e-3)
    if falls >= 0:  # Else it has nearly nothing to do at the lighter load.
        low, high = interval(lighter, falls, heavier)
        assert low < LIMIT <= high * (1 + 1e-3)


def test_upper_bound_needs_two_loads_if_the_cpu_cost_falls_fast_under_load() -> None:
    _, by_one = interval(4_000.0, 1.5)
    assert by_one < LIMIT
    _, by_two = interval(4_000.0, 1.5, 1_000.0)
    assert by_two == pytest.approx(LIMIT, rel=1e-3)
    # A cost that does not fall, or falls as slowly as usual, changes nothing.
    for falls in (-0.5, 0.0, 0.1):
        assert interval(10_000.0, falls, 2_000.0) == interval(10_000.0, falls)
    # Nor does a load that is too similar, or so light that its cost is meaningless.
    near, light = 3_500.0, 10.0
    assert interval(4_000.0, 1.5, near, light) == interval(4_000.0, 1.5)


@pytest.mark.parametrize(
    "seen",
    [
        with_use(QUIET, target=None, target_is_local=False),
        changed(QUIET, target_cores=None),
        changed(QUIET, failures_by_kind={"wrong-answer": 1}),
        with_target(QUIET, cpu_s=0.9),
    ],
)
def test_without_the_cost_of_an_operation_there_is_no_upper_bound(seen: Evidence) -> None:
    verdict = judge(replace(seen, generator_cpu_s=(9.9,)))
    assert (verdict.grade, verdict.at_most_per_s) == (Quoted.AT_LEAST, None)
    assert "at most" not in verdict.evidence


@pytest.mark.parametrize(
    ("seen", "known"),
    [
        (changed(QUIET, failures_by_kind={"leak": 1}), ()),
        (changed(QUIET, operations=0), ()),
        (changed(QUIET, settled=Settled(Steadiness.UNSETTLED, "it drifts", 20.0)), ()),
        (QUIET, (PointWarning("other-files", "other files", "take these", spoils=True),)),
    ],
)
def test_point_without_a_rate_has_no_lower_bound(
    seen: Evidence, known: tuple[PointWarning, ...]
) -> None:
    verdict = judge(replace(seen, generator_cpu_s=(9.9,)), known)
    assert (verdict.grade, verdict.at_most_per_s) == (Quoted.NOT_USABLE, None)


def test_lost_workers_leave_no_lower_bound() -> None:
    seen = changed(QUIET, generator_cpu_s=(9.9,))
    lost = WorkerSeen(0, "east", "10.0.0.2", 7, "m1", "native", 4.0, 40_000, 0, ended="lost")
    verdict = apply_workers(judge(seen), seen, [lost], 1)
    assert (verdict.grade, verdict.at_most_per_s) == (Quoted.NOT_USABLE, None)


FULL = {"pool_looked_total": 10.0, "pool_full_total": 9.0, "threads_max": 16.0}


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (with_use(QUIET, directory=FULL), "all 16 threads of its pool were busy"),
        (changed(QUIET, rate_at_half=9_600.0), "64 users did 10,000/s, where 32 did 9,600/s"),
    ],
)
def test_serialised_operations_have_their_own_verdict(seen: Evidence, words: str) -> None:
    # Handshakes show that the network is free.
    seen = with_use(seen, round_trip_s=40e-6, idle_round_trip_s=40e-6)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.SERIALISED, True)
    assert words in verdict.evidence
    assert "operations wait for a lock, or one of a few threads" in verdict.evidence
    # Serialisation is not reported if the cores or a disk are used up.
    assert judge(with_target(seen, cpu_s=9.9)).bound == Bound.TARGET_CPU
    slow_disk = with_target(seen, disk_wait_share=0.9, written_bytes=1_000_000)
    assert judge(slow_disk).bound == Bound.DISK


@pytest.mark.parametrize(
    "seen",
    [
        with_use(QUIET, directory={**FULL, "pool_full_total": 4.0}),
        changed(QUIET, rate_at_half=9_500.0),
        with_target(with_use(QUIET, directory=FULL), cpu_s=7.1),
        replace(with_use(QUIET, directory=FULL), thinks=True),
    ],
)
def test_operations_without_waits_or_on_busy_cores_are_not_serialised(seen: Evidence) -> None:
    assert judge(seen).bound == Bound.UNDECIDED


def test_full_connection_pool_is_the_limit_rather_than_locks_of_the_target() -> None:
    """Two places and 20 users: undecided, "it waits for locks, timers or pools of its own"."""
    quiet = with_use(QUIET, round_trip_s=40e-6, idle_round_trip_s=40e-6)
    full = replace(quiet, pools=(PoolUse("audit", 8, 1.0), PoolUse("main", 2, 1.92)))
    verdict = judge(full)
    assert (verdict.bound, verdict.valid) == (Bound.POOL, True)
    assert "1.92 of the 2 places of the pool main were in use" in verdict.evidence
    assert "locks" not in str(verdict.findings)
    assert judge(changed(full, rate_at_half=9_600.0)).bound == Bound.POOL
    # Places that are sometimes free, or a used-up target, are other cases.
    assert judge(replace(full, pools=(PoolUse("main", 2, 1.89),))).bound == Bound.UNDECIDED
    assert judge(with_target(full, cpu_s=9.9)).bound == Bound.TARGET_CPU
    assert judge(replace(full, generator_cpu_s=(9.9,))).bound == Bound.GENERATOR
    assert judge(replace(full, rate=10_000.0)).bound == Bound.SCHEDULE


def test_cpu_shares_of_other_loads_refer_to_all_of_the_targets_cores() -> None:
    """Four cores compared with one: the same shares, and four times the rate."""
    alone = interval(4_000.0, 1.5, 1_000.0)[1]
    used, cost_s = loaded(4_000.0, 1.5)
    light = loaded(1_000.0, 1.5)
    seen = replace(
        with_target(QUIET, cpu_s=40 * used),
        generator_cpu_s=(9.9,),
        operations=round(40 * used / cost_s),
        target_cores=4,
        other_loads=(OtherLoad(4 * light[0], light[1]),),
    )
    assert judge(seen).at_most_per_s == pytest.approx(4 * alone, rel=1e-3)


def test_rate_with_mostly_failed_operations_is_no_lower_bound() -> None:
    timeouts = {"timeout": 10_001}
    busy = changed(QUIET, operations=10_000, generator_cpu_s=(9.9,), failures_by_kind=timeouts)
    verdict = judge(busy)
    assert (verdict.bound, verdict.grade) == (Bound.FAILED, Quoted.NOT_USABLE)
    assert verdict.evidence.startswith("most operations failed: timeout x 10,001; ")
