"""Activity on this machine, and the monitor's figures for it."""

import contextlib
import os
import socket
import subprocess
from pathlib import Path

import pytest

from sitebench.monitor.between import use_between
from sitebench.monitor.machine import sockets_by_state
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.use import DiskUse, MachineUse
from sitebench.system.namespace import remote_host
from sitebench.system.network import free_port
from tests.support.actor import Actor, acting
from tests.support.waiting import eventually

PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Both ends of a window around an activity."""

    def __init__(self, pid: int | None = None) -> None:
        self.monitor = Monitor(pid)
        self.start = self.monitor.sample(thorough=True)

    def used(self) -> MachineUse:
        return use_between(self.start, self.monitor.sample(thorough=True), 1.0).machine


def test_core_of_a_busy_process_is_busy(actor: Actor) -> None:
    watch = Watch()
    core = max(os.sched_getaffinity(0))
    actor.do(
        f"""
        import os, time
        os.sched_setaffinity(0, {{{core}}})
        start = time.process_time()
        while time.process_time() - start < 0.5:
            sum(range(10_000))  # To ask for the time again and again is the kernel's work.
        """
    )
    end = watch.monitor.sample().machine
    busy_s = end.cores[core].busy_s - watch.start.machine.cores[core].busy_s
    assert busy_s > 0.4
    used = watch.used()
    assert len(used.busy_per_core) == os.cpu_count()
    assert 0 < used.busy_per_core[core] <= 1
    assert (used.user_s or 0.0) > 0.3


def test_memory_is_that_of_this_machine() -> None:
    used = Watch().used()
    assert used.total_bytes == os.sysconf("SC_PHYS_PAGES") * PAGE
    assert 0 < used.available_bytes < used.total_bytes


def test_machine_counts_include_faults_and_switches_of_a_process(actor: Actor) -> None:
    watch = Watch()
    actor.do(
        """
        import mmap, time
        held = mmap.mmap(-1, 2048 * mmap.PAGESIZE)
        held.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(held), mmap.PAGESIZE):
            held[at] = 1
        for _ in range(100):
            time.sleep(0.0005)
        """
    )
    used = watch.used()
    assert (used.faults or 0) >= 2048
    assert (used.context_switches or 0) >= 200


def test_more_runnable_threads_than_cores_cause_queue_and_pressure(actor: Actor) -> None:
    watch = Watch()
    core = min(os.sched_getaffinity(0))
    actor.do(
        f"""
        import os
        os.sched_setaffinity(0, {{{core}}})
        def child():
            pid = os.fork()
            while pid == 0:
                pass
            return pid
        children = [child() for _ in range(3)]
        """
    )
    try:
        assert eventually(lambda: (watch.used().run_queue or 0) >= 2)
        if Path("/proc/pressure/cpu").exists():
            assert eventually(lambda: watch.used().pressure["cpu.some"] > 0.1)
    finally:
        actor.do("[os.kill(child, 9) for child in children]")


def test_synced_bytes_are_counted_as_disk_writes(on_disk: Path) -> None:
    if os.major(on_disk.parent.stat().st_dev) == 0:
        pytest.skip("/var/tmp lies on no disk of its own")
    watch = Watch()
    written = os.urandom(8 << 20)

    def write() -> tuple[DiskUse, ...]:
        with on_disk.open("wb") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        return watch.used().disks

    disks = write()
    assert sum(disk.written_bytes for disk in disks) >= len(written)
    # A fast disk may finish before the kernel's clock has ticked.
    assert eventually(lambda: any(disk.busy_share > 0 for disk in write()))
    assert not [disk for disk in disks if not Path("/sys/block", disk.name).exists()]


def _pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    return ours, theirs


def _send(ours: socket.socket, theirs: socket.socket, mebibytes: int) -> None:
    part = b"x" * (1 << 16)
    for _ in range(mebibytes * 16):
        ours.sendall(part)
        left = len(part)
        while left:
            left -= len(theirs.recv(left))


def test_loopback_bytes_are_counted_in_both_directions() -> None:
    watch = Watch()
    ours, theirs = _pair()
    with ours, theirs:
        _send(ours, theirs, 8)
    used = watch.used()
    (lo,) = (each for each in used.interfaces if each.name == "lo")
    assert lo.bytes_out >= 8 << 20
    assert lo.bytes_in >= 8 << 20
    assert lo.packets_in >= (8 << 20) // 65_536
    assert lo.speed_bits_s is None
    assert (used.segments_out or 0) >= (8 << 20) // 65_536


def test_token_bucket_rate_is_the_speed_of_a_virtual_interface() -> None:
    with remote_host(10_000_000) as slow, remote_host() as fast:
        # An interface without any traffic is not listed.
        with socket.socket(type=socket.SOCK_DGRAM) as sender:
            for host in (slow, fast):
                sender.sendto(b"", (host.address, 9))
        used = Watch().used()
    speeds = {
        each.speed_bits_s for each in used.interfaces if each.name.startswith(f"sb{os.getpid()}")
    }
    assert speeds == {10_000_000, None}


def test_sockets_are_counted_by_their_state() -> None:
    before = sockets_by_state()
    with contextlib.ExitStack() as stack:
        for end in (end for _ in range(20) for end in _pair()):
            stack.enter_context(end)
        left, right = _pair()
        stack.enter_context(left)
        right.close()
        stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
        found = Watch().used().sockets
    assert found["established"] >= 40
    assert found["close_wait"] >= 1
    assert found["listen"] >= 2
    assert "time_wait" in found
    assert "time_wait" not in before


def test_full_accept_queue_counts_overflows_and_retransmits() -> None:
    watch = Watch()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(8):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        assert eventually(lambda: (watch.used().listen_overflows or 0) >= 1)
        assert eventually(lambda: (watch.used().listen_drops or 0) >= 1)
        assert eventually(lambda: (watch.used().retransmits or 0) >= 1)


APART = ("unshare", "--user", "--map-root-user", "--net")
LINK_UP = """
import fcntl, socket, struct
with socket.socket() as any_socket:
    # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING: the loopback of a new namespace is down.
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH22x", b"lo", 0x41))
"""
SEND = """
server = socket.create_server(("127.0.0.1", 0))
ours = socket.create_connection(server.getsockname())
theirs, _ = server.accept()
for _ in range(100):
    ours.sendall(b"x" * 10_000)
    left = 10_000
    while left:
        left -= len(theirs.recv(left))
"""


def test_network_of_a_target_is_read_in_its_own_namespace() -> None:
    allowed = subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0
    if not allowed:
        pytest.skip("no network namespace may be made here")
    with acting(APART) as actor:
        actor.do(LINK_UP)
        monitor = Monitor(actor.pid)
        actor.do("warm = socket.create_server(('127.0.0.1', 0)); warm.close()")
        start = monitor.sample()
        actor.do(SEND)
        used = use_between(start, monitor.sample(thorough=True), 1.0)
    theirs = used.target_machine
    assert theirs is not None
    (lo,) = theirs.interfaces
    # A million bytes of payload, and some 66 bytes of headers for each segment.
    assert 1_000_000 <= lo.bytes_out < 1_200_000
    assert lo.bytes_in == lo.bytes_out
    assert theirs.sockets["in_use"] == 3
    assert theirs.busy_per_core == used.machine.busy_per_core
    assert used.target_is_local


def test_target_in_the_namespace_of_the_generator_has_no_separate_machine(actor: Actor) -> None:
    monitor = Monitor(actor.pid)
    assert use_between(monitor.sample(), monitor.sample(), 1.0).target_machine is None


def test_handshake_gives_the_round_trip_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monitor = Monitor(None, server.getsockname())
        start = monitor.sample()
        assert eventually(
            lambda: use_between(start, monitor.sample(), 1.0).round_trip_s is not None
        )


def test_closed_port_has_no_handshake() -> None:
    monitor = Monitor(None, ("127.0.0.1", free_port()))
    assert use_between(monitor.sample(), monitor.sample(), 1.0).round_trip_s is None
