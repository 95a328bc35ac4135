"""Files of kernels as printed by Linux 2.6.32, 3.10, 4.19, 5.10 and 6.18."""

from typing import Any

import pytest

from sitebench.monitor import texts
from sitebench.monitor.sample import CoreSample, DiskSample, InterfaceSample
from sitebench.monitor.texts import PAGE, TICK_S, CpuHierarchy

STAT_2_6_32 = """\
cpu  2255 34 2290 22625563 6290 127 456 0
cpu0 1132 34 1441 11311718 3675 127 438 0
cpu1 1123 0 849 11313845 2614 0 18 0
intr 114930548 113199788 3 0 5 263 0 4
ctxt 1990473
btime 1062191376
processes 2915
procs_running 1
procs_blocked 3
"""
STAT_6_18 = """\
cpu  1000056 334191 301872 795114 5506 0 93278 2680 77 11
cpu0 500826 160188 143156 413937 1239 7 45495 1330 77 11
intr 20347342 0 0 0
ctxt 96737545
btime 1795163019
processes 811529
procs_running 3
procs_blocked 0
softirq 357476622 0 1239015 19 345539724 885172 0 1002 1188745 22685 8600260
"""


def ticks(*counts: int) -> Any:
    return [pytest.approx(count * TICK_S) for count in counts]


def test_stat_file_of_linux_2_6_32_has_no_guest_time() -> None:
    found = texts.stat(STAT_2_6_32)
    assert len(found.cores) == 2
    user, system, iowait, irq, stolen, idle = ticks(1166, 1441, 3675, 565, 0, 11311718)
    assert found.cores[0] == CoreSample(user, system, iowait, irq, stolen, idle)
    assert (found.context_switches, found.runnable, found.blocked) == (1990473, 1, 3)


def test_guest_time_is_counted_once_as_user_time() -> None:
    (core,) = texts.stat(STAT_6_18).cores
    user, irq, stolen = ticks(500826 + 160188, 7 + 45495, 1330)
    assert (core.user_s, core.irq_s, core.stolen_s) == (user, irq, stolen)


def test_core_that_waits_for_a_disk_is_not_busy() -> None:
    (core,) = texts.stat(STAT_6_18).cores
    all_but_idle = 500826 + 160188 + 143156 + 7 + 45495 + 1330
    assert core.busy_s == pytest.approx(all_but_idle * TICK_S)


def test_memory_is_in_bytes_and_unknown_before_linux_3_14() -> None:
    wanted = ("MemTotal", "MemAvailable")
    now = "MemTotal:       24684096 kB\nMemFree:   22786848 kB\nMemAvailable:   23875124 kB\n"
    numbers = {"MemTotal": 24684096 * 1024, "MemAvailable": 23875124 * 1024}
    assert texts.named_numbers(now, wanted) == numbers
    text = "MemTotal: 1024 kB\nMemFree: 512 kB\n"
    assert texts.named_numbers(text, wanted) == {"MemTotal": 1024 * 1024}


def test_paging_counts_have_no_unit() -> None:
    text = "pswpin 3\npswpout 5\npgfault 220268736\npgmajfault 47935\npgfault_extra 1\n"
    assert texts.named_numbers(text, ("pswpin", "pgfault")) == {"pswpin": 3, "pgfault": 220268736}


def test_full_cpu_pressure_is_in_linux_6_18_and_not_in_5_10() -> None:
    some = "some avg10=1.63 avg60=2.77 avg300=2.46 total=5366225859\n"
    full = "full avg10=0.09 avg60=0.10 avg300=0.02 total=36864065\n"
    assert texts.pressure(some) == {"some": 5366.225859}
    assert texts.pressure(some + full) == {"some": 5366.225859, "full": 36.864065}


DISKS_3_10 = """\
   1       0 ram0 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 1532 56 47252 3340 62443 2814 160893 96332 2 18054 99672
   8       1 sda1 1500 56 47000 3300 62443 2814 160893 96332 0 18000 99632
"""
DISKS_4_19 = """\
   7       0 loop0 8 0 64 12 0 0 0 0 0 4 12 0 0 0 0
 259       0 nvme0n1 100 0 800 10 200 0 1600 20 1 25 30 4 0 32 1
 259       1 nvme0n1p1 90 0 700 9 190 0 1500 19 0 24 28 0 0 0 0
"""
DISKS_6_18 = """\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 1532258 56777 47252794 3340935 624432 281433 160893224 963329 0 180544 4344630 \
156358 45 110179608 33233 83281 7132
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
"""


def test_only_whole_disks_are_read_in_bytes_and_seconds() -> None:
    sda = DiskSample(47252 * 512, 160893 * 512, 18.054, 2)
    assert texts.disks(DISKS_3_10, {"ram0", "sda"}) == {"sda": sda}


def test_additional_disk_columns_of_later_kernels_are_accepted() -> None:
    whole = {"loop0", "nvme0n1", "vda", "zram0"}
    assert texts.disks(DISKS_4_19, whole)["nvme0n1"] == DiskSample(800 * 512, 1600 * 512, 0.025, 1)
    vda = DiskSample(47252794 * 512, 160893224 * 512, 180.544, 0)
    assert texts.disks(DISKS_6_18, whole) == {"vda": vda}


def test_loop_device_is_counted_from_its_first_use_on() -> None:
    assert "loop0" in texts.disks(DISKS_4_19, {"loop0", "nvme0n1"})
    assert "loop0" not in texts.disks(DISKS_6_18, {"loop0", "vda"})


NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo \
colls carrier compressed
    lo: 336 388    0    0    0     0          0         0 336 388    0    0    0     0       0   0
  ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0 \
    0       0          0
eth0:1139148792   46740    1    2    0     0          0         0  2857877   28046    0    5    0 \
    0       0          0
"""


def test_used_interfaces_are_read_even_without_space_after_the_colon() -> None:
    assert texts.interfaces(NET_DEV) == {
        "lo": InterfaceSample(336, 336, 388, 388, 0),
        "eth0": InterfaceSample(1139148792, 2857877, 46740, 28046, 7),
    }


def test_protocol_columns_are_found_by_name_in_any_order() -> None:
    older = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits\nTcpExt: 1 22 23 4\n"
    newer = "TcpExt: New ListenDrops Other ListenOverflows\nTcpExt: 9 23 8 22\nIpExt: A\nIpExt: 1\n"
    for text in (older, newer):
        assert texts.protocol(text, "TcpExt") == {"listen_overflows": 22, "listen_drops": 23}
    assert texts.protocol("Ip: A\nIp: 1\n", "TcpExt") == {}


def test_sockets_of_ipv4_and_ipv6_are_summed() -> None:
    four = "sockets: used 28\nTCP: inuse 12 orphan 1 tw 137 alloc 12 mem 50\nUDP: inuse 0 mem 0\n"
    numbers = {"in_use": 15, "orphan": 1, "time_wait": 137}
    assert texts.sockets(four, "TCP6: inuse 3\nUDP6: inuse 0\n") == numbers
    assert texts.sockets("", "") == {}


def test_stat_file_is_parsed_for_any_process_name() -> None:
    text = (
        "1045 (a) b (c)) S 1037 1037 30351 0 -1 4194304 103 7 2 1 150 50 30 20 20 0 18 0 1270552"
        " 3133440 408 18446744073709551615 94904595087360 1 1 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n"
    )
    found = texts.process_stat(text)
    assert (found.state, found.parent, found.threads, found.started) == ("S", 1037, 18, 1270552)
    assert (found.minor_faults, found.waited_minor_faults) == (103, 7)
    assert (found.major_faults, found.waited_major_faults) == (2, 1)
    assert [found.user_s, found.system_s] == ticks(150, 50)
    assert [found.waited_user_s, found.waited_system_s] == ticks(30, 20)
    assert found.rss == 408 * PAGE


def test_schedstat_times_are_in_nanoseconds() -> None:
    assert texts.schedstat("809940 5878 2\n") == (809940e-9, 5878e-9)
    assert texts.schedstat("") is None


def test_status_file_is_parsed_with_tabs_and_without_switches() -> None:
    text = (
        "Name:\tcat\nVmHWM:\t    1744 kB\nThreads:\t1\n"
        "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t1\n"
    )
    found = texts.named_numbers(text, texts.STATUS)
    assert found["VmHWM"] == 1744 * 1024
    assert texts.switches(found) == (4, 1)
    assert texts.switches(texts.named_numbers("Name:\tcat\nVmHWM:\t 8 kB\n", texts.STATUS)) is None


def test_throttling_is_in_ns_in_cgroup_v1_and_us_in_v2() -> None:
    v1 = "nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\nnr_bursts 0\n"
    v2 = "usage_usec 5\nuser_usec 4\nsystem_usec 1\nnr_periods 10\nthrottled_usec 1500000\n"
    assert texts.throttled_s(v1) == texts.throttled_s(v2) == 1.5
    assert texts.throttled_s("usage_usec 5\nuser_usec 4\nsystem_usec 1\n") is None


HYBRID = """\
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
DOCKER_V1 = "9 8 0:1 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro shared:1 - cgroup c rw,cpu,cpuacct\n"
UNIFIED = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


def test_mounts_of_control_groups_are_found() -> None:
    one, two = CpuHierarchy(1, "/", "/sys/fs/cgroup/cpu"), "/sys/fs/cgroup/unified"
    assert texts.cpu_hierarchies(HYBRID) == [one, CpuHierarchy(2, "/", two)]
    assert texts.cpu_hierarchies(UNIFIED) == [CpuHierarchy(2, "/", "/sys/fs/cgroup")]
    assert texts.cpu_hierarchies(DOCKER_V1) == [
        CpuHierarchy(1, "/docker/ab", "/sys/fs/cgroup/cpu,cpuacct")
    ]


def test_control_group_is_that_of_the_cpu_controller() -> None:
    hybrid = "9:name=systemd:/s\n3:cpuset:/cs\n2:cpu,cpuacct:/c/d\n0::/u\n"
    assert texts.control_group(hybrid, 1) == "/c/d"
    assert texts.control_group(hybrid, 2) == "/u"
    assert texts.control_group("0::/u\n", 1) is None
