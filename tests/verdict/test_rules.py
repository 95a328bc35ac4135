"""The verdict's rules, one by one, at and around their thresholds."""

from dataclasses import replace

import pytest

from sitebench.monitor import DiskUse, InterfaceUse
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.cpu import cpu
from sitebench.verdict.rules.disk import disk
from sitebench.verdict.rules.generator import generator
from sitebench.verdict.rules.memory import memory
from sitebench.verdict.rules.network import network
from sitebench.verdict.rules.operating_system import operating_system
from sitebench.verdict.rules.software import software
from tests.support.evidence import (
    MACHINE,
    durations,
    evidence,
    with_generator,
    with_machine,
    with_target,
    with_use,
)

QUIET = evidence()
REMOTE = with_use(QUIET, target=None, target_is_local=False)


@pytest.mark.parametrize(
    ("cpu_s", "grade"),
    [
        (4.0, Grade.NO),
        (6.9, Grade.NO),
        (7.0, Grade.POSSIBLE),
        (8.9, Grade.POSSIBLE),
        (9.0, Grade.PRIMARY),
        (10.0, Grade.PRIMARY),
    ],
)
def test_cpu_is_graded_by_the_share_of_the_cores_that_the_target_may_use(
    cpu_s: float, grade: Grade
) -> None:
    assert cpu(with_target(QUIET, cpu_s=cpu_s)).grade == grade
    two = with_target(replace(QUIET, target_cores=2), cpu_s=2 * cpu_s)
    assert cpu(two).grade == grade


def test_a_quota_is_all_the_cpu_there_is() -> None:
    seen = with_target(replace(QUIET, target_cores=2), cpu_s=2.4, quota_cores=0.25)
    assert cpu(seen) == Finding(
        Resource.CPU, Grade.PRIMARY, "the target used 96% of the 0.25 cores that its quota allows"
    )
    wide = with_target(seen, quota_cores=8.0)
    assert cpu(wide).grade == Grade.NO


def test_a_target_that_waits_for_cores_lacks_cpu() -> None:
    waiting = with_target(QUIET, cpu_s=3.0, waited_s=6.0)
    assert cpu(waiting).grade == Grade.PRIMARY
    assert "waited 0.60 s per second" in cpu(waiting).evidence
    less = with_target(QUIET, cpu_s=3.0, waited_s=5.0)
    assert cpu(less).grade == Grade.NO
    assert cpu(with_machine(less, busy_per_core=(1.0, 0.9))).grade == Grade.PRIMARY


def test_a_remote_target_is_judged_by_its_machine() -> None:
    assert cpu(REMOTE).grade == Grade.UNKNOWN
    full = replace(MACHINE, busy_per_core=(0.95, 0.97))
    assert cpu(with_use(REMOTE, target_machine=full)).grade == Grade.PRIMARY
    assert cpu(with_use(REMOTE, target_machine=MACHINE)).grade == Grade.NO


@pytest.mark.parametrize(
    ("share", "grade"),
    [
        (0.03, Grade.NO),
        (0.15, Grade.NO),
        (0.69, Grade.NO),
        (0.70, Grade.POSSIBLE),
        (0.91, Grade.PRIMARY),
    ],
)
def test_a_link_is_graded_by_its_busier_direction(share: float, grade: Grade) -> None:
    # The paper says No of less than 3 % (Tables 10, 11) and of less than 15 % (Tables 15, 16).
    carried = round(100e6 / 8 * 10 * share)
    link = InterfaceUse("eth0", carried // 10, carried, 1, 1, 0, 100_000_000)
    found = network(with_machine(QUIET, interfaces=(link,)))
    assert found.grade == grade
    assert f"eth0 carried {share:.0%} of its 100 Mbit/s" in found.evidence


def test_round_trips_that_grow_under_load_are_queues_on_the_way() -> None:
    def found(loaded_s: float, idle_s: float) -> Finding:
        return network(with_use(QUIET, round_trip_s=loaded_s, idle_round_trip_s=idle_s))

    # An operation takes 600 us.
    assert found(350e-6, 40e-6).grade == Grade.PRIMARY
    assert found(110e-6, 40e-6).grade == Grade.POSSIBLE
    assert found(60e-6, 40e-6).grade == Grade.NO
    far = found(500e-6, 480e-6)
    assert far.grade == Grade.POSSIBLE
    assert "distance" in far.evidence


def test_segments_sent_again_are_a_sign() -> None:
    assert network(with_machine(QUIET, retransmits=99)).grade == Grade.UNKNOWN
    found = network(with_machine(QUIET, retransmits=100))
    assert found.grade == Grade.POSSIBLE
    assert "1% of TCP's segments were retransmitted (100)" in found.evidence


def test_a_network_that_nothing_tells_of_is_not_called_free() -> None:
    assert network(REMOTE).grade == Grade.UNKNOWN


@pytest.mark.parametrize(
    ("stalled", "grade"), [(0.09, Grade.NO), (0.10, Grade.POSSIBLE), (0.50, Grade.PRIMARY)]
)
def test_memory_is_graded_by_how_long_tasks_wait_for_it(stalled: float, grade: Grade) -> None:
    assert memory(with_machine(QUIET, pressure={"memory.some": stalled})).grade == grade


def test_swapping_is_a_sign_of_want() -> None:
    assert memory(with_machine(QUIET, swapped_out=10)).grade == Grade.POSSIBLE
    assert memory(with_machine(QUIET, swapped_out=9)).grade == Grade.NO


def test_pages_from_disk_are_mapped_files_while_memory_is_left() -> None:
    # As the paper concludes for PS (Tables 15 and 16).
    faulting = with_target(QUIET, major_faults=20_000)
    assert memory(faulting).grade == Grade.NO
    assert "see the disk" in memory(faulting).evidence
    tight = with_machine(faulting, available_bytes=100_000_000)
    assert memory(tight).grade == Grade.POSSIBLE


@pytest.mark.parametrize(
    ("stalled", "grade"), [(0.09, Grade.NO), (0.10, Grade.POSSIBLE), (0.50, Grade.PRIMARY)]
)
def test_a_disk_is_graded_by_how_long_the_target_stands_still_for_it(
    stalled: float, grade: Grade
) -> None:
    seen = with_target(QUIET, disk_wait_share=stalled, written_bytes=1)
    assert disk(seen).grade == grade
    machine = with_target(QUIET, written_bytes=1)
    assert disk(with_machine(machine, pressure={"io.some": stalled})).grade == grade


def test_disks_that_others_keep_busy_are_not_the_targets() -> None:
    busy = with_machine(QUIET, disks=(DiskUse("sda", 0, 10**9, 1.0, 8),), pressure={"io.some": 0.9})
    assert disk(busy).grade == Grade.NO
    assert "read and wrote nothing" in disk(busy).evidence
    assert disk(with_target(busy, written_bytes=10**9)).grade == Grade.PRIMARY


def test_a_busy_disk_without_waiting_tasks_does_much_at_once() -> None:
    seen = with_target(QUIET, written_bytes=10**9, disk_wait_share=0.05)
    busy = with_machine(seen, disks=(DiskUse("nvme0n1", 0, 10**9, 0.99, 8),))
    assert disk(busy).grade == Grade.NO
    assert disk(with_target(busy, disk_wait_share=0.2)).grade == Grade.PRIMARY


def test_the_kernels_refusals_are_the_operating_systems() -> None:
    full = with_machine(QUIET, listen_overflows=3)
    found = operating_system(full, cpu_used_up=False)
    assert found.grade == Grade.POSSIBLE
    assert "3 connections found the accept queue full" in found.evidence


def test_the_kernels_share_matters_where_the_cpu_is_used_up() -> None:
    seen = with_target(QUIET, cpu_s=9.9, system_s=6.0)
    assert operating_system(seen, cpu_used_up=True).grade == Grade.POSSIBLE
    assert operating_system(seen, cpu_used_up=False).grade == Grade.NO
    lean = with_target(QUIET, cpu_s=9.9, system_s=2.0)
    assert operating_system(lean, cpu_used_up=True).grade == Grade.NO
    assert "20% of the target's CPU is the kernel's" in (
        operating_system(lean, cpu_used_up=True).evidence
    )


def others(seen: Evidence, **grades: Grade) -> list[Finding]:
    return [Finding(name, grade, "") for name, grade in ({"cpu": Grade.NO} | grades).items()]


def test_a_target_that_takes_nothing_of_what_there_is_waits_for_itself() -> None:
    found = software(QUIET, others(QUIET), pressed=True)
    assert found.grade == Grade.POSSIBLE
    assert "too few users" in found.evidence


def test_software_that_was_not_pressed_or_not_watched_is_not_judged() -> None:
    assert software(QUIET, others(QUIET), pressed=False).grade == Grade.UNKNOWN
    unseen = others(QUIET, disk=Grade.UNKNOWN)
    assert software(QUIET, unseen, pressed=True).grade == Grade.UNKNOWN


def test_software_that_waits_for_a_resource_is_not_to_blame() -> None:
    found = software(QUIET, others(QUIET, disk=Grade.PRIMARY), pressed=True)
    assert found == Finding("software", Grade.NO, "it waits for resources that are used up: disk")


def test_one_full_thread_among_many_cores_is_the_programs_limit() -> None:
    seen = with_target(replace(QUIET, target_cores=4), cpu_s=11.0, busiest_thread_s=9.8)
    found = software(seen, others(seen), pressed=True)
    assert found.grade == Grade.PRIMARY
    assert "one of the target's threads was on a core 98%" in found.evidence
    alone = with_target(QUIET, cpu_s=9.8, busiest_thread_s=9.8, system_s=2.45)
    found = software(alone, others(alone, cpu=Grade.PRIMARY), pressed=True)
    assert found.grade == Grade.POSSIBLE
    assert found.evidence == "75% of the target's CPU is its own code"


def test_a_target_that_turns_people_away_says_so_itself() -> None:
    seen = replace(QUIET, failures={"status:503": 7, "wrong-answer": 1})
    found = software(seen, others(seen), pressed=True)
    assert (found.grade, found.evidence) == (Grade.POSSIBLE, "the target rejected 7 operations")


def test_a_generator_is_used_up_on_a_core_waiting_for_one_or_by_its_quota() -> None:
    assert not generator(QUIET).used_up
    assert generator(replace(QUIET, generator_cpu_s=(1.0, 9.0))).used_up
    # Two threads that want a core 3 + 2 + 13.5 of 20 seconds.
    assert generator(with_generator(QUIET, waited_s=13.5)).used_up
    assert not generator(with_generator(QUIET, waited_s=12.0)).used_up
    held = generator(with_generator(QUIET, cpu_s=1.95, quota_cores=0.2))
    assert held.used_up
    assert "98% of its quota of 0.2 cores" in held.message


def test_a_late_start_with_free_lanes_is_the_generators() -> None:
    late = replace(
        QUIET,
        rate=20_000.0,
        lag=durations(5_000.0),
        service=durations(600.0),
    )
    # 10,000/s of 600 us keep 6 of 64 lanes in use.
    assert generator(late).used_up
    assert "6.0 of 64 lanes were in use" in generator(late).message
    # With all lanes waiting for the target, it is the target that is late.
    assert not generator(replace(late, users=8)).used_up
    assert not generator(replace(late, rate=10_000.0)).used_up
