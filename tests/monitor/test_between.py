import json

import msgspec
import pytest
from msgspec.structs import replace

from sitebench.monitor.between import use_between
from sitebench.monitor.sample import (
    Answers,
    CoreSample,
    DiskSample,
    InterfaceSample,
    MachineSample,
    NetworkSample,
    ProcessSample,
    Sample,
)
from sitebench.monitor.use import Gap, ProcessUse, Use


def machine(at_s: float = 0.0, **other: object) -> MachineSample:
    made = MachineSample(at_s, (CoreSample(0, 0, 0, 0, 0, 0),), available_bytes=1_000)
    return replace(made, **other)


def a_sample(at_s: float = 0.0, **other: object) -> Sample:
    made = Sample(ProcessSample(1, 1, 10), ProcessSample(2, 1, 20), machine(at_s))
    return replace(made, **other)


def test_counters_are_differences_and_gauges_are_final_values() -> None:
    start = a_sample(target=ProcessSample(2, 1, 500, minor_faults=7, descriptors=3))
    end = a_sample(1.0, target=ProcessSample(4.5, 2, 400, minor_faults=9, descriptors=5))
    use = use_between(start, end, 2.0)
    assert use.target == ProcessUse(2.5, 400, system_s=1, minor_faults=2, descriptors=5)
    assert use.target_cpu_percent == 125.0


def test_figure_missing_at_one_end_of_the_window_is_unknown() -> None:
    start = a_sample(target=ProcessSample(1, 1, 1, waited_s=1.0))
    found = use_between(start, a_sample(1.0), 1.0)
    assert found.target is not None
    assert found.target.waited_s is None
    assert found.target.read_bytes is None


def test_core_is_at_most_fully_busy() -> None:
    end = machine(1.0, cores=(CoreSample(0.99, 0.02, 0, 0.01, 0, 0),))
    assert use_between(a_sample(), a_sample(machine=end), 1.0).machine.busy_per_core == (1.0,)


def test_stolen_time_counts_as_busy_and_iowait_does_not() -> None:
    end = machine(2.0, cores=(CoreSample(0.5, 0, 0.4, 0, 0.3, 0),))
    found = use_between(a_sample(), a_sample(machine=end), 2.0).machine
    assert found.busy_cores == pytest.approx(0.4)
    assert (found.stolen_s, found.iowait_s) == (0.3, 0.4)


def test_shares_of_a_machine_refer_to_the_time_between_its_samples() -> None:
    start, end = a_sample(), a_sample(9.0)
    start = replace(start, target_machine=machine(5.0, pressure_s={"cpu.some": 1.0}))
    end = replace(end, target_machine=machine(9.0, pressure_s={"cpu.some": 2.0, "io.some": 7.0}))
    found = use_between(start, end, 8.0).target_machine
    assert found is not None
    assert found.pressure == {"cpu.some": 0.25}


def test_run_queue_is_the_mean_of_the_readings_in_the_window() -> None:
    start = machine(0.0, runnable_sum=10, readings=4)
    end = machine(1.0, runnable_sum=25, readings=9)
    assert use_between(a_sample(machine=start), a_sample(machine=end), 1.0).machine.run_queue == 3
    none = use_between(a_sample(machine=start), a_sample(machine=start), 1.0).machine
    assert none.run_queue is None


def test_new_disk_and_interface_count_from_zero() -> None:
    network = NetworkSample({"eth0": InterfaceSample(5, 6, 7, 8, 9)}, speeds={"eth0": 10**9})
    end = machine(2.0, disks={"vda": DiskSample(1, 2, 0.5, 3)}, network=network)
    found = use_between(a_sample(), a_sample(machine=end), 2.0).machine
    assert (found.disks[0].written_bytes, found.disks[0].busy_share) == (2, 0.25)
    (interface,) = found.interfaces
    assert (interface.bytes_in, interface.drops, interface.speed_bits_s) == (5, 9, 10**9)


def test_machine_without_second_sample_is_unknown() -> None:
    there = machine(3.0)
    start, end = a_sample(target_machine=there), a_sample(target_machine=there)
    assert use_between(start, end, 1.0).target_machine is None


def test_counters_of_the_directory_are_differences_over_the_window() -> None:
    start = a_sample(directory={"searches_total": 5.0, "connections": 3.0})
    end = a_sample(directory={"searches_total": 9.0, "connections": 4.0, "adds_total": 2.0})
    counts = {"searches_total": 4.0, "connections": 4.0, "adds_total": 2.0}
    assert use_between(start, end, 1.0).directory == counts
    assert use_between(a_sample(), end, 1.0).directory is None


def test_gap_counts_missing_samples_of_the_window() -> None:
    start = a_sample(answers=(Answers("a", 5, 2, "old"), Answers("b", 5, 0)))
    end = a_sample(answers=(Answers("a", 9, 3, "timed out"), Answers("b", 9, 0)))
    assert use_between(start, end, 1.0).gaps == (Gap("a", 4, 1, "timed out"),)


def test_source_without_requests_in_the_window_is_a_gap() -> None:
    stuck = (Answers("a", 5, 0),)
    ends = (a_sample(answers=stuck), a_sample(answers=stuck))
    assert use_between(*ends, 10.0).gaps == (Gap("a", 0, 0, ""),)
    assert use_between(*ends, 0.5).gaps == ()


def full() -> Use:
    start = a_sample(directory={"x_total": 1.0}, target_machine=machine(0.0))
    network = NetworkSample({"lo": InterfaceSample(1, 2, 3, 4, 5)}, 6, 7, 8, 9, {"listen": 1})
    told = machine(1.0, disks={"sda": DiskSample(1, 2, 0.1, 0)}, network=network)
    end = a_sample(1.0, directory={"x_total": 4.0}, target_machine=told)
    return replace(use_between(start, end, 1.0), gaps=(Gap("a", 4, 1, "timed out"),))


def test_record_of_used_resources_survives_serialisation() -> None:
    assert msgspec.convert(json.loads(json.dumps(full().to_json())), Use) == full()


def test_unknown_fields_of_newer_versions_are_ignored() -> None:
    written = full().to_json()
    written["weather"] = "fine"
    written["machine"]["moons"] = 1
    written["target_machine"]["disks"][0]["colour"] = "red"
    assert msgspec.convert(written, Use) == full()
