import json
from dataclasses import replace

import pytest

from sitebench.counts.littles_law import LittlesLaw
from sitebench.counts.steady import Settled, Steadiness
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.verdict import Bound, Verdict, judge
from tests.support.evidence import (
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
        (9.9, (9.9,), Bound.UNDECIDED, True),
    ],
)
def test_who_was_on_a_core_all_the_time_was_the_bottleneck(
    target_cpu_s: float, generator_cpu_s: tuple[float, ...], bound: Bound, valid: bool
) -> None:
    seen = with_target(replace(QUIET, generator_cpu_s=generator_cpu_s), cpu_s=target_cpu_s)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (bound, valid)


@pytest.mark.parametrize(
    ("generator_cpu_s", "bound", "valid"),
    [((9.9,), Bound.GENERATOR, False), ((5.0,), Bound.UNDECIDED, True)],
)
def test_of_an_unobserved_target_only_the_tester_is_known(
    generator_cpu_s: tuple[float, ...], bound: Bound, valid: bool
) -> None:
    unseen = with_use(QUIET, target=None, target_is_local=False)
    verdict = judge(replace(unseen, generator_cpu_s=generator_cpu_s))
    assert (verdict.bound, verdict.valid) == (bound, valid)
    grades = {finding.resource: finding.grade for finding in verdict.findings}
    assert grades[Resource.CPU] == grades[Resource.MEMORY] == grades[Resource.DISK] == Grade.UNKNOWN


def test_a_target_is_full_when_all_its_cores_are() -> None:
    seen = with_target(replace(QUIET, target_cores=4), cpu_s=19.0)
    assert judge(seen).bound == Bound.UNDECIDED
    assert judge(replace(seen, target_cores=2)).bound == Bound.TARGET_CPU


def test_one_full_thread_is_enough_to_doubt_the_number() -> None:
    assert not judge(replace(QUIET, generator_cpu_s=(1.0, 9.8))).valid


def test_a_tester_that_other_programs_starved_has_no_number_of_the_targets() -> None:
    crowded = with_machine(QUIET, busy_per_core=(1.0, 1.0))
    starved = with_generator(with_target(crowded, cpu_s=2.0, waited_s=8.0), waited_s=6.0)
    own = replace(starved, generator_cpu_s=(3.0,))
    verdict = judge(own)
    assert (verdict.bound, verdict.valid) == (Bound.GENERATOR, False)
    assert "other programs used 1.50 cores" in verdict.evidence
    # Where target and tester themselves fill the machine, both are at their ceiling there.
    ours = with_target(with_generator(own, cpu_s=8.0, waited_s=6.0), cpu_s=9.0, waited_s=1.0)
    assert (judge(ours).bound, judge(ours).valid) == (Bound.UNDECIDED, True)


def test_a_kept_rate_is_what_held_the_rate() -> None:
    assert judge(replace(QUIET, rate=10_000.0)).bound == Bound.SCHEDULE
    assert judge(replace(QUIET, rate=20_000.0)).bound == Bound.UNDECIDED


def test_where_nothing_succeeded_there_is_no_number() -> None:
    verdict = judge(replace(QUIET, operations=0, failures={"timeout": 7}))
    assert (verdict.bound, verdict.valid) == (Bound.FAILED, False)
    assert "timeout x 7" in verdict.evidence


def test_the_evidence_names_both_sides() -> None:
    said = judge(QUIET).evidence
    assert "the target used 40% of its 1 core" in said
    assert "generator thread was on a core 30%" in said


def test_nothing_makes_up_for_a_leak() -> None:
    verdict = judge(with_target(replace(QUIET, failures={"leak": 1}), cpu_s=9.9))
    assert (verdict.bound, verdict.valid) == (Bound.LEAK, False)
    assert "another user's data" in verdict.evidence


def test_a_rate_that_never_settled_is_no_rate() -> None:
    drifting = Settled(Steadiness.UNSETTLED, "not steady: throughput changed by +20%", 20.0)
    verdict = judge(with_target(replace(QUIET, settled=drifting), cpu_s=9.9))
    assert (verdict.bound, verdict.valid) == (Bound.UNSETTLED, False)
    assert "+20%" in verdict.evidence
    assert verdict.findings[0].grade == Grade.PRIMARY


def test_the_table_has_the_papers_rows_in_the_papers_order() -> None:
    found = [finding.resource for finding in judge(QUIET).findings]
    assert found == ["cpu", "network", "memory", "operating-system", "software", "disk"]


def test_one_resource_that_is_used_up_is_the_bound() -> None:
    seen = with_machine(QUIET, pressure={"io.some": 0.8, "io.full": 0.7})
    seen = with_target(seen, written_bytes=1_000_000)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.DISK, True)
    assert "80% of the time tasks on the machine waited for disks" in verdict.evidence


def test_two_resources_used_up_decide_nothing() -> None:
    seen = with_machine(QUIET, pressure={"io.some": 0.8})
    seen = with_target(seen, written_bytes=1_000_000, cpu_s=9.9)
    verdict = judge(seen)
    assert (verdict.bound, verdict.valid) == (Bound.UNDECIDED, True)
    assert "the target's CPU and the target's disk are used up" in verdict.evidence


def test_a_verdict_survives_being_written() -> None:
    law = LittlesLaw(64.0, 60.0, -0.06, False, "time is missing")
    verdict = judge(with_target(replace(QUIET, little=law), cpu_s=9.9))
    assert verdict.warnings
    assert Verdict.read(json.loads(json.dumps(verdict.to_json()))) == verdict


def test_a_word_of_a_newer_version_stays_a_word() -> None:
    newer = Finding("gpu", "certain", "it glowed")
    verdict = Verdict("unseen", True, "it stood still", (newer,))
    assert Verdict.read(verdict.to_json()) == verdict
