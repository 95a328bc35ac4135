"""The verdict's rules, one by one, at and around their thresholds."""

from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from sitebench.counts.spans import Span
from sitebench.counts.steady import Settled, Steadiness
from sitebench.monitor.use import DiskUse, InterfaceUse
from sitebench.verdict.evidence import Evidence
from sitebench.verdict.finding import Finding, Grade, Resource
from sitebench.verdict.rules.cpu import cpu
from sitebench.verdict.rules.disk import disk
from sitebench.verdict.rules.generator import Generator, generator
from sitebench.verdict.rules.memory import memory
from sitebench.verdict.rules.network import network
from sitebench.verdict.rules.operating_system import operating_system
from sitebench.verdict.rules.software import software
from tests.support.evidence import (
    MACHINE,
    changed,
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
def test_cpu_is_graded_by_the_cores_of_the_target(cpu_s: float, grade: Grade) -> None:
    assert cpu(with_target(QUIET, cpu_s=cpu_s)).grade == grade
    two = with_target(changed(QUIET, target_cores=2), cpu_s=2 * cpu_s)
    assert cpu(two).grade == grade


def test_quota_of_a_target_is_its_cpu_capacity() -> None:
    seen = with_target(changed(QUIET, target_cores=2), cpu_s=2.4, quota_cores=0.25)
    assert cpu(seen) == Finding(
        Resource.CPU, Grade.PRIMARY, "the target used 96% of the 0.25 cores that its quota allows"
    )
    wide = with_target(seen, quota_cores=8.0)
    assert cpu(wide).grade == Grade.NO


def test_target_waiting_for_cores_is_cpu_bound() -> None:
    waiting = with_target(QUIET, cpu_s=3.0, waited_s=6.0, allowed_cores=(1,))
    waiting = with_generator(waiting, cpu_s=6.0)
    full = with_machine(waiting, busy_per_core=(0.2, 0.95))
    assert cpu(full).grade == Grade.PRIMARY
    assert "0.6 of its threads were always waiting" in cpu(full).evidence
    # Wake-ups of many threads, while their permitted cores were partly idle.
    assert cpu(with_machine(waiting, busy_per_core=(1.0, 0.75))).grade == Grade.NO
    less = with_target(QUIET, cpu_s=3.0, waited_s=5.0)
    assert cpu(less).grade == Grade.NO
    tester = with_generator(with_machine(less, busy_per_core=(1.0, 0.9)), cpu_s=14.0)
    assert cpu(tester).grade == Grade.PRIMARY


def test_target_has_only_the_cores_on_which_it_may_run() -> None:
    assert changed(QUIET, target_cores=None).ceiling == 1
    pinned = with_target(changed(QUIET, target_cores=4), allowed_cores=(2, 3))
    assert pinned.ceiling == 2
    assert structs.replace(pinned, target_cores=None).ceiling == 2
    assert structs.replace(pinned, target_cores=1).ceiling == 1
    assert with_target(pinned, quota_cores=0.5).ceiling == 0.5


def test_remote_target_is_judged_by_its_machine() -> None:
    assert cpu(REMOTE).grade == network(REMOTE).grade == Grade.UNKNOWN
    full = structs.replace(MACHINE, busy_per_core=(0.95, 0.97))
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
def test_link_is_graded_by_its_busier_direction(share: float, grade: Grade) -> None:
    # The paper grades less than 3 % (Tables 10, 11) and less than 15 % (Tables 15, 16) as No.
    carried = round(100e6 / 8 * 10 * share)
    link = InterfaceUse("eth0", carried // 10, carried, 1, 1, 0, 100_000_000)
    found = network(with_use(with_machine(QUIET, interfaces=(link,)), interface="eth0"))
    assert found.grade == grade
    assert f"eth0 carried {share:.0%} of its 100 Mbit/s" in found.evidence


def test_link_filled_by_other_traffic_is_not_the_link_to_the_target() -> None:
    backup = InterfaceUse("eth0", 10**6, 120_000_000, 1, 1, 0, 100_000_000)
    on_loopback = with_machine(QUIET, interfaces=(backup,))
    assert network(on_loopback).grade == Grade.UNKNOWN
    # The target sent 128 kB/s: of its machine's interfaces, eth1 carried that traffic.
    ours, theirs, idle = (
        InterfaceUse(name, sent, sent, 1, 1, 0, 1_000_000_000)
        for name, sent in (("eth0", 2_000_000), ("eth1", 1_500_000), ("eth2", 1_000))
    )
    far = structs.replace(MACHINE, interfaces=(replace(backup, name="eth3"), theirs, idle))
    seen = with_use(with_machine(REMOTE, interfaces=(ours,)), interface="eth0", target_machine=far)
    assert (network(seen).grade, seen.link) == (Grade.NO, ours)
    assert structs.replace(seen, use=replace(seen.use, machine=MACHINE)).link == theirs


def test_round_trips_that_grow_under_load_indicate_network_queues() -> None:
    def found(loaded_s: float, idle_s: float) -> Finding:
        return network(with_use(QUIET, round_trip_s=loaded_s, idle_round_trip_s=idle_s))

    # An operation takes 600 us.
    assert found(350e-6, 40e-6).grade == Grade.PRIMARY
    assert found(110e-6, 40e-6).grade == Grade.POSSIBLE
    assert found(60e-6, 40e-6).grade == Grade.NO
    slow = with_use(QUIET, round_trip_s=1.0, idle_round_trip_s=40e-6)
    assert network(slow).grade == Grade.PRIMARY
    assert network(with_machine(slow, listen_overflows=3)).grade == Grade.UNKNOWN
    far = found(500e-6, 480e-6)
    assert far.grade == Grade.POSSIBLE
    assert "distance" in far.evidence


def test_retransmitted_segments_indicate_a_network_limit() -> None:
    assert network(with_machine(QUIET, retransmits=99)).grade == Grade.UNKNOWN
    found = network(with_machine(QUIET, retransmits=100))
    assert found.grade == Grade.POSSIBLE
    assert "1% of TCP's segments were retransmitted (100)" in found.evidence


@pytest.mark.parametrize(
    ("stalled", "grade"), [(0.09, Grade.NO), (0.10, Grade.POSSIBLE), (0.50, Grade.PRIMARY)]
)
def test_memory_and_disk_are_graded_by_the_time_that_tasks_wait_for_them(
    stalled: float, grade: Grade
) -> None:
    assert memory(with_machine(QUIET, pressure={"memory.some": stalled})).grade == grade
    writing = with_target(QUIET, written_bytes=1)
    assert disk(with_target(writing, disk_wait_share=stalled)).grade == grade
    assert disk(with_machine(writing, pressure={"io.some": stalled})).grade == grade


def test_swapping_indicates_a_lack_of_memory() -> None:
    assert memory(with_machine(QUIET, swapped_out=10)).grade == Grade.POSSIBLE
    assert memory(with_machine(QUIET, swapped_out=9)).grade == Grade.NO


def test_pages_from_disk_are_mapped_files_while_memory_is_free() -> None:
    # As the paper concludes for PS (Tables 15 and 16).
    faulting = with_target(QUIET, major_faults=20_000)
    assert memory(faulting).grade == Grade.NO
    assert "see the disk" in memory(faulting).evidence
    tight = with_machine(faulting, available_bytes=100_000_000)
    assert memory(tight).grade == Grade.POSSIBLE


def test_disks_kept_busy_by_other_programs_do_not_limit_the_target() -> None:
    busy = with_machine(QUIET, disks=(DiskUse("sda", 0, 10**9, 1.0, 8),), pressure={"io.some": 0.9})
    assert disk(busy).grade == Grade.NO
    assert "read and wrote nothing" in disk(busy).evidence
    assert disk(with_target(busy, written_bytes=10**9)).grade == Grade.PRIMARY


def test_busy_disk_without_waiting_tasks_is_not_a_bottleneck() -> None:
    seen = with_target(QUIET, written_bytes=10**9, disk_wait_share=0.05)
    busy = with_machine(seen, disks=(DiskUse("nvme0n1", 0, 10**9, 0.99, 8),))
    assert disk(busy).grade == Grade.NO
    assert disk(with_target(busy, disk_wait_share=0.2)).grade == Grade.PRIMARY


def test_kernel_refusals_indicate_a_limit_of_the_operating_system() -> None:
    full = with_machine(QUIET, listen_overflows=3)
    found = operating_system(full, cpu_used_up=False)
    assert found.grade == Grade.POSSIBLE
    assert "3 connections found the accept queue full" in found.evidence


def test_kernels_share_counts_only_if_the_cpu_is_used_up() -> None:
    seen = with_target(QUIET, cpu_s=9.9, system_s=6.0)
    assert operating_system(seen, cpu_used_up=True).grade == Grade.POSSIBLE
    assert operating_system(seen, cpu_used_up=False).grade == Grade.NO
    lean = operating_system(with_target(seen, system_s=2.0), cpu_used_up=True)
    assert lean.grade == Grade.NO
    assert "20% of the target's CPU is the kernel's" in lean.evidence
    unseen = with_target(QUIET, system_s=None)
    assert operating_system(unseen, cpu_used_up=True).grade == Grade.UNKNOWN
    assert operating_system(unseen, cpu_used_up=False).grade == Grade.NO


def others(seen: Evidence, **grades: Grade) -> list[Finding]:
    return [Finding(name, grade, "") for name, grade in ({"cpu": Grade.NO} | grades).items()]


def test_target_with_idle_resources_is_limited_by_its_software() -> None:
    finding = software(QUIET, others(QUIET), pressed=True)
    assert finding.grade == Grade.POSSIBLE
    assert "too few users" in finding.evidence
    # Without a load, or without monitoring, the software is not judged.
    assert software(QUIET, others(QUIET), pressed=False).grade == Grade.UNKNOWN
    unseen = others(QUIET, disk=Grade.UNKNOWN)
    assert software(QUIET, unseen, pressed=True).grade == Grade.UNKNOWN


def test_software_that_waits_for_a_resource_is_not_the_limit() -> None:
    found = software(QUIET, others(QUIET, disk=Grade.PRIMARY), pressed=True)
    assert found == Finding("software", Grade.NO, "it waits for resources that are used up: disk")


def test_one_full_thread_on_many_cores_is_a_software_limit() -> None:
    seen = with_target(changed(QUIET, target_cores=4), cpu_s=11.0, busiest_thread_s=9.8)
    found = software(seen, others(seen), pressed=True)
    assert found.grade == Grade.PRIMARY
    assert "one of the target's threads was on a core 98%" in found.evidence
    alone = with_target(QUIET, cpu_s=9.8, busiest_thread_s=9.8, system_s=2.45)
    found = software(alone, others(alone, cpu=Grade.PRIMARY), pressed=True)
    assert found.grade == Grade.POSSIBLE
    assert found.evidence == "75% of the target's CPU is its own code"


def test_target_rejecting_operations_indicates_a_software_limit() -> None:
    seen = changed(QUIET, failures_by_kind={"status:503": 7, "wrong-answer": 1})
    found = software(seen, others(seen), pressed=True)
    assert (found.grade, found.evidence) == (Grade.POSSIBLE, "the target rejected 7 operations")


def test_full_core_or_spent_quota_or_waiting_threads_mean_a_used_up_generator() -> None:
    assert not generator(QUIET).used_up
    assert generator(changed(QUIET, generator_cpu_s=(1.0, 9.0))).used_up
    # Two threads that need a core for 3 + 2 + 13.5 of 20 seconds.
    assert generator(with_generator(QUIET, waited_s=13.5)).used_up
    assert not generator(with_generator(QUIET, waited_s=12.0)).used_up
    held = generator(with_generator(QUIET, cpu_s=1.95, quota_cores=0.2))
    assert held.used_up
    assert "98% of its quota of 0.2 cores" in held.message


def test_late_starts_with_free_lanes_are_a_limit_of_the_generator() -> None:
    late = changed(
        QUIET, rate=20_000.0, lag=durations(5_000.0), service=durations(600.0), busy_lanes=6.0
    )
    assert generator(late).used_up
    assert "6.0 of 64 lanes were in use" in generator(late).message
    # If all lanes wait for the target, the target is late.
    assert not generator(changed(late, users=8)).used_up
    assert not generator(changed(late, busy_lanes=32.0)).used_up
    assert not generator(changed(late, rate=10_000.0)).used_up
    # For stages the mean does not decide: the target may have stalled for one of many minutes.
    stages = Settled(Steadiness.STAGED, "its load changed by stages")
    assert not generator(changed(late, settled=stages)).used_up
    # Connecting is not lateness: 10,000 times a second 600 us, after 5 ms of connecting.
    connecting = changed(late, users=640, busy_lanes=56.0)
    assert not generator(connecting).used_up


def test_spans_of_stages_with_a_saturated_generator_are_named() -> None:
    stages = Settled(Steadiness.STAGED, "its rate changed by stages")
    quick, late = durations(900.0), durations(2_000_000.0)

    def span(minute: int, **fields: Any) -> Span:
        known: dict[str, Any] = {"latency_us": quick, "lag_us": durations(50.0), **fields}
        found = Span(minute * 60.0, 60.0, 6_000, 0, asked=6_000.0, **known)
        return structs.replace(found, tester_busy=found.tester_busy or 0.1)

    def seen(*spans: Span) -> Generator:
        return generator(changed(QUIET, settled=stages, spans=spans))

    busy = {"tester_busy": 0.95}
    assert seen(span(0), span(1, **busy), span(2, **busy), span(3)).spans == "1:00 to 3:00"
    assert seen(span(0), span(1, tester_busy=0.8)) == generator(QUIET)
    # There are no other rows that could be called the target's.
    assert seen(span(0, **busy), span(1, **busy)) == structs.replace(generator(QUIET), used_up=True)
    waits = {"latency_us": late, "lag_us": late, "tester_late": 0.6}
    assert seen(span(0, **waits), span(1), span(2, **waits)).spans == "0:00 to 1:00, 2:00 to 3:00"
    # Lanes were busy, they paused after failures, or no operation began late.
    assert not seen(span(0, **{**waits, "tester_late": 0.4})).used_up
    assert not seen(structs.replace(span(0, **waits), failures=200)).used_up
    assert not seen(span(0, tester_late=1.0)).used_up


def test_busiest_of_several_disks_decides_the_grade() -> None:
    idle, busy = DiskUse("sda", 1, 1, 0.1, 0), DiskUse("sdb", 1, 1, 0.95, 0)
    seen = with_target(with_machine(QUIET, disks=(idle, busy)), disk_wait_share=0.2, read_bytes=1)
    assert disk(seen).grade == Grade.PRIMARY
    assert "sdb was busy 95%" in disk(seen).evidence


def test_evidence_of_a_disk_has_the_targets_reads_and_writes() -> None:
    seen = with_target(QUIET, read_bytes=5_000, written_bytes=5_000)
    assert "the target read 500 B/s and wrote 500 B/s" in disk(seen).evidence
    assert "read" not in disk(with_target(QUIET, read_bytes=None, written_bytes=5)).evidence


def test_worse_of_two_network_signs_decides_the_grade() -> None:
    full = InterfaceUse("eth0", 0, 95 * 10**6 * 10 // 8, 1, 1, 0, 100_000_000)
    seen = with_use(QUIET, interface="eth0", round_trip_s=1e-6, idle_round_trip_s=1e-6)
    assert network(with_machine(seen, interfaces=(full,))).grade == Grade.PRIMARY


def test_machine_with_more_lost_segments_is_named() -> None:
    far = structs.replace(MACHINE, segments_out=1_000, retransmits=50)
    seen = with_use(with_machine(REMOTE, retransmits=200), target_machine=far)
    assert "5% of TCP's segments were retransmitted (50)" in network(seen).evidence
    unknown = with_use(REMOTE, target_machine=structs.replace(far, retransmits=None))
    assert network(unknown).grade != Grade.POSSIBLE


def test_pages_from_disk_are_counted_per_second_and_per_operation() -> None:
    short = with_machine(QUIET, available_bytes=10, total_bytes=1_000)
    few, many = (with_target(short, major_faults=n) for n in (9_000, 11_000))
    # One in ten of 10,000 operations a second is the bound.
    assert memory(few).grade == Grade.NO
    assert "900 pages/s from disk" in memory(few).evidence
    assert memory(many).grade == Grade.POSSIBLE
    slow = structs.replace(with_target(short, major_faults=9), operations=10)
    assert memory(slow).grade == Grade.NO


def test_kernel_figures_are_per_second() -> None:
    said = operating_system(QUIET, cpu_used_up=False).evidence
    assert "1,000 context switches/s, run queue 1.0" in said
    nothing = with_machine(QUIET, context_switches=None, run_queue=None)
    assert "nothing was refused" in operating_system(nothing, cpu_used_up=False).evidence
