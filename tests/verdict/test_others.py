"""Other programs on the cores: windows recorded on a machine of two cores.

The burner has two threads that each use a core. Without the burner, the same servers are never
reported as starved.
"""

import pytest
from msgspec.structs import replace

from sitebench.counts.steady import Settled, Steadiness
from sitebench.monitor.use import BehindUse
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Grade, Resource
from sitebench.verdict.verdict import Bound, Quoted, judge
from sitebench.verdict.warning import WarningKind
from tests.support.evidence import (
    changed,
    durations,
    evidence,
    with_generator,
    with_machine,
    with_target,
    with_use,
)


def recorded(
    seconds: float,
    operations: int,
    *,
    target: tuple[float, float | None],
    tester: tuple[float, float],
    busy: tuple[float, float] = (1.0, 1.0),
    mean_us: float = 600.0,
    **other: object,
) -> Evidence:
    """Return a window of two cores: seconds on a core and seconds of waiting for a core."""
    seen = evidence(seconds=seconds, operations=operations, target_cores=2, users=8, **other)
    seen = with_target(seen, cpu_s=target[0], waited_s=target[1], allowed_cores=(0, 1))
    seen = with_target(seen, busiest_thread_s=target[0] / 2)
    seen = with_generator(seen, cpu_s=tester[0], waited_s=tester[1], allowed_cores=(0, 1))
    seen = replace(with_machine(seen, busy_per_core=busy), generator_cpu_s=(tester[0],))
    took = durations(mean_us, n=operations)
    return changed(with_use(seen, seconds=seconds), latency=took, service=took)


BESIDE_A_BURNER = {
    "gunicorn": recorded(3.02, 175, target=(0.55, 2.87), tester=(0.07, 0.48)),
    "nginx before gunicorn": recorded(3.03, 165, target=(0.03, 0.14), tester=(0.05, 0.49)),
    "a directory with 4 users": recorded(3.03, 39_312, target=(0.35, 1.35), tester=(0.39, 1.6)),
    "CGI": recorded(3.14, 3_884, target=(3.81, 7.95), tester=(0.28, 1.63)),
    "CGI of Apache, 650 threads": recorded(3.14, 1_290, target=(1.91, None), tester=(0.16, 0.97)),
}

ALONE = {
    "gunicorn, one of two workers": recorded(
        2.01, 596, target=(1.98, 0.06), tester=(0.13, 0.02), busy=(0.98, 0.1)
    ),
    "a directory with 4 users": recorded(2.06, 158_516, target=(1.86, 0.06), tester=(1.91, 0.17)),
    "a directory with 1 user": recorded(
        4.03, 72_790, target=(1.58, 0.1), tester=(1.59, 0.13), busy=(0.41, 0.39)
    ),
    "nginx before gunicorn": with_use(
        recorded(2.01, 1_131, target=(0.14, 0.19), tester=(0.06, 0.05)),
        behind=(BehindUse("gunicorn", 3.7),),
    ),
    "CGI": recorded(2.02, 3_595, target=(3.53, 8.24), tester=(0.25, 0.89)),
    # With real-time priority, of which the kernel reserves a twentieth of each core for all other
    # programs.
    "CGI of Apache, 650 threads": recorded(
        2.03, 2_146, target=(3.42, None), tester=(0.2, 0.55), busy=(0.95, 0.95)
    ),
}


@pytest.mark.parametrize("seen", BESIDE_A_BURNER.values(), ids=BESIDE_A_BURNER)
def test_server_beside_a_burner_has_a_lower_bound_and_no_idle_cores(seen: Evidence) -> None:
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.OTHERS, False), verdict.evidence
    assert verdict.grade == Quoted.AT_LEAST
    assert WarningKind.NOISY_MACHINE in {warning.kind for warning in verdict.warnings}
    cores = "100% of the 2 cores that it may use was busy, and other programs used "
    assert cores in verdict.evidence
    grades = {finding.resource: finding.grade for finding in verdict.findings}
    assert grades[Resource.CPU] == Grade.TAKEN
    said = " ".join([verdict.evidence, *(each.evidence for each in verdict.findings)])
    assert "idle" not in said
    assert "is used up" not in said


@pytest.mark.parametrize("seen", ALONE.values(), ids=ALONE)
def test_server_alone_on_a_machine_is_never_limited_by_other_programs(seen: Evidence) -> None:
    verdict = judge(seen)
    assert verdict.bound != Bound.OTHERS, verdict.evidence
    assert Grade.TAKEN not in {each.grade for each in verdict.findings}


def test_cores_used_up_behind_a_proxy_are_the_targets_limit() -> None:
    proxy = ALONE["nginx before gunicorn"]
    verdict = judge(proxy)
    assert (verdict.bound, verdict.valid) == (Bound.TARGET_CPU, True), verdict.evidence
    assert "used 3% of its 2 cores, and what works behind it (gunicorn) 92%" in verdict.evidence
    assert WarningKind.PROXIED in {each.kind for each in verdict.warnings}
    # Half used, without other programs: neither is used up.
    half = with_use(proxy, behind=(BehindUse("gunicorn", 1.9),))
    assert judge(with_machine(half, busy_per_core=(0.5, 0.5))).bound == Bound.UNDECIDED
    # A burner takes as much as beside any other server.
    burner = with_use(proxy, behind=(BehindUse("gunicorn", 0.4),))
    assert judge(burner).bound == Bound.OTHERS


def test_additional_users_without_gain_beside_a_burner_do_not_indicate_a_lock() -> None:
    """A Django site of two workers, 10 and 20 clients: "the target left 96% of its cores idle"."""
    burner = BESIDE_A_BURNER["gunicorn"]
    twice = replace(burner, users=20, rate_at_half=burner.operations / burner.seconds)
    assert judge(twice).bound == Bound.OTHERS
    # Nor if no single program used most of the cores.
    shared = with_generator(with_target(twice, cpu_s=1.9, waited_s=0.2), cpu_s=1.9)
    verdict = judge(shared)
    assert verdict.bound not in (Bound.OTHERS, Bound.SERIALISED)
    assert "cores were 100% busy: target 0.63, load generator 0.63" in verdict.evidence
    assert "used up" not in verdict.evidence
    quiet = with_machine(twice, busy_per_core=(0.3, 0.3))
    near = with_use(quiet, round_trip_s=4e-5, idle_round_trip_s=4e-5)
    assert judge(near).bound == Bound.SERIALISED


@pytest.mark.parametrize("tester_s", [0.07, 2.8])
def test_other_programs_are_named_whichever_side_was_saturated(tester_s: float) -> None:
    seen = with_machine(BESIDE_A_BURNER["gunicorn"], busy_per_core=(1.0,) * 4)
    seen = replace(with_target(seen, allowed_cores=(0, 1, 2, 3)), target_cores=4)
    seen = replace(with_generator(seen, cpu_s=tester_s), generator_cpu_s=(tester_s,))
    assert judge(seen).bound == Bound.OTHERS


@pytest.mark.parametrize(("used_s", "bound"), [(1.5, Bound.TARGET_CPU), (1.2, Bound.OTHERS)])
def test_quota_is_the_limit_even_beside_a_burner(used_s: float, bound: Bound) -> None:
    burner = BESIDE_A_BURNER["gunicorn"]
    assert judge(with_target(burner, cpu_s=used_s, quota_cores=0.5)).bound == bound


@pytest.mark.parametrize(
    ("taken_s", "bound"), [(3.0, Bound.OTHERS), (2.9, Bound.UNDECIDED), (1.0, Bound.GENERATOR)]
)
def test_other_programs_limit_a_target_only_if_they_use_half_of_the_cores(
    taken_s: float, bound: Bound
) -> None:
    ours = (6.0 - taken_s) / 2
    seen = recorded(3.0, 1_000, target=(ours, 0.2), tester=(ours, 0.2))
    assert judge(seen).bound == bound


@pytest.mark.parametrize(
    ("target_s", "tester_s", "bound"),
    [
        # Two workers and two threads of a burner, on two cores: each gets half a core.
        (3.0, 0.2, Bound.OTHERS),
        # The load generator took the cores that the target lacked.
        (3.0, 2.5, Bound.GENERATOR),
        # Other programs may use a tenth of the cores without a warning.
        (5.15, 0.2, Bound.OTHERS),
        (5.3, 0.2, Bound.TARGET_CPU),
    ],
)
def test_other_programs_limit_a_target_only_if_they_use_half_of_missing_cores(
    target_s: float, tester_s: float, bound: Bound
) -> None:
    seen = recorded(3.0, 1_000, target=(target_s, 6.0 - target_s), tester=(tester_s, 0.1))
    assert judge(seen).bound == bound


@pytest.mark.parametrize(("busy", "bound"), [(0.9, Bound.OTHERS), (0.89, Bound.UNDECIDED)])
def test_cores_with_idle_time_do_not_count_as_taken_by_other_programs(
    busy: float, bound: Bound
) -> None:
    seen = with_machine(BESIDE_A_BURNER["gunicorn"], busy_per_core=(busy, busy))
    assert judge(with_target(seen, waited_s=0.2)).bound == bound


def test_cores_outside_the_targets_affinity_do_not_count_as_its_cores() -> None:
    seen = with_machine(BESIDE_A_BURNER["gunicorn"], busy_per_core=(1.0, 0.2))
    assert judge(with_target(seen, allowed_cores=(1,), waited_s=0.1)).bound == Bound.UNDECIDED
    apart = with_generator(with_target(seen, allowed_cores=(0,)), allowed_cores=(1,))
    assert judge(apart).bound == Bound.OTHERS
    core = "100% of the 1 core that it may use was busy, and other programs used 0.82"
    assert core in judge(apart).evidence


def test_growing_queue_beside_a_burner_is_not_attributed_to_the_target() -> None:
    growing = Settled(Steadiness.GROWING, "the queue grew")
    burner = replace(BESIDE_A_BURNER["gunicorn"], rate=100.0, settled=growing)
    assert judge(burner).bound == Bound.OTHERS
    alone = replace(ALONE["gunicorn, one of two workers"], rate=1_000.0, settled=growing)
    assert judge(alone).bound == Bound.UNSETTLED


def test_kept_rate_beside_a_burner_is_limited_by_the_schedule() -> None:
    burner = BESIDE_A_BURNER["gunicorn"]
    kept = replace(burner, rate=burner.operations / burner.seconds)
    assert judge(kept).bound == Bound.SCHEDULE
    assert judge(replace(kept, rate=100.0)).bound == Bound.OTHERS


OPEN_BESIDE_A_BURNER = {
    "a directory, 604 us of 113 us alone": recorded(
        3.03, 1_541, target=(0.05, 0.08), tester=(0.12, 0.38), mean_us=604, rate=509.0
    ),
    "gunicorn, 14 ms of 4.6 ms alone": recorded(
        3.04, 71, target=(0.25, 0.68), tester=(0.08, 0.36), mean_us=14_274, rate=23.4
    ),
}


@pytest.mark.parametrize("seen", OPEN_BESIDE_A_BURNER.values(), ids=OPEN_BESIDE_A_BURNER)
def test_latency_that_includes_waits_for_a_cpu_burner_is_an_upper_bound(seen: Evidence) -> None:
    verdict = judge(seen)
    assert (verdict.bound, verdict.latency_at_most) == (Bound.SCHEDULE, True)
    assert WarningKind.OTHERS_IN_LATENCY in {each.kind for each in verdict.warnings}
    # A rate without a schedule is itself a lower bound, and does not affect its latency.
    assert not judge(replace(seen, rate=None)).latency_at_most
    # For a target with too many threads to read their waits, the cores used by other programs
    # decide.
    assert judge(with_target(seen, waited_s=None)).latency_at_most
    half = with_machine(with_target(seen, waited_s=None), busy_per_core=(0.6, 0.6))
    assert not judge(half).latency_at_most
    # Nothing changes if the target is on another machine.
    far = with_use(seen, target=None, target_is_local=False)
    assert not judge(far).latency_at_most
    starved = replace(with_generator(far, waited_s=2.9), generator_cpu_s=(0.1,))
    assert judge(starved).bound == Bound.OTHERS


def test_latency_of_an_open_schedule_without_other_programs_is_measured() -> None:
    quiet = recorded(
        4.01, 1_991, target=(0.05, 0.03), tester=(0.17, 0.04), busy=(0.01, 0.05), mean_us=113
    )
    assert not judge(replace(quiet, rate=496.0)).latency_at_most
    # An idle machine always has some activity, and a waking thread waits a moment.
    idle = with_machine(quiet, busy_per_core=(0.06, 0.06))
    assert not judge(replace(idle, rate=496.0)).latency_at_most
    # Threads of a busy target wait for each other, which is the target's own latency.
    own = recorded(4.0, 40_000, target=(7.0, 30.0), tester=(0.7, 0.2), mean_us=1_000)
    assert not judge(replace(own, rate=10_000.0)).latency_at_most
    # Other programs with a seventh of the cores cause a seventh of these waits.
    little = recorded(4.0, 40_000, target=(6.4, 20.0), tester=(0.4, 0.2), mean_us=1_000)
    assert not judge(replace(little, rate=10_000.0)).latency_at_most


@pytest.mark.parametrize(("mean_us", "at_most"), [(3_000.0, True), (3_200.0, False)])
def test_wait_for_other_programs_counts_from_a_tenth_of_the_latency(
    mean_us: float, at_most: bool
) -> None:
    # 0.5 s of 1,541 operations are 324 us, and other programs used 95 % of the busy time.
    seen = recorded(3.03, 1_541, target=(0.15, 0.2), tester=(0.15, 0.3), mean_us=mean_us)
    seen = replace(seen, rate=1_541 / 3.03)
    assert seen.waited_for_others_us == pytest.approx(308, abs=1)
    assert judge(seen).latency_at_most == at_most
