"""Activity of a process, and the monitor's figures for it."""

import ctypes
import os
import threading
import time
from pathlib import Path

import psutil
import pytest

from sitebench.monitor.between import use_between
from sitebench.monitor.child_clock import ChildClock
from sitebench.monitor.monitor import Monitor
from sitebench.monitor.process import ProcessReader, Rising, Stalls
from sitebench.monitor.throttle import ancestry
from sitebench.monitor.use import ProcessUse
from tests.faults.groups import cpu_quota
from tests.support.actor import Actor
from tests.support.waiting import eventually

TICKS_S = 0.05
"""The kernel counts CPU in ticks of 10 ms; the actor's own clock is finer."""

BURN = """
import time
start = time.process_time()
while time.process_time() - start < 0.3:
    pass
"""
IGNORING = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
FORK = """
import os
def burning_child(hold):
    pid = os.fork()
    if pid == 0:
        import time
        while time.process_time() < 0.3:
            pass
        if hold:
            import signal
            signal.pause()
        os._exit(0)
    return pid
"""


class Watch:
    """Both ends of a window around an actor's activity."""

    def __init__(self, pid: int) -> None:
        self.monitor = Monitor(pid)
        self.start = self.monitor.sample()

    def used(self) -> ProcessUse:
        found = use_between(self.start, self.monitor.sample(), 1.0).target
        assert found is not None
        return found


def test_cpu_time_matches_the_work_of_the_process(actor: Actor) -> None:
    watch = Watch(actor.pid)
    spent_s = float(actor.do(BURN + "result = time.process_time() - start"))
    assert watch.used().cpu_s == pytest.approx(spent_s, abs=TICKS_S)


def test_system_time_is_measured_separately(actor: Actor) -> None:
    watch = Watch(actor.pid)
    actor.do(
        """
        import os
        before = os.times().system
        zero, full = os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
        while os.times().system - before < 0.2:
            os.write(full, os.read(zero, 1 << 20))
        """
    )
    found = watch.used()
    assert 0.2 - TICKS_S < (found.system_s or 0.0) <= found.cpu_s


def test_figures_of_the_target_include_its_children(actor: Actor) -> None:
    watch = Watch(actor.pid)
    actor.do(FORK + "children = [burning_child(hold=True) for _ in range(2)]")
    try:
        assert eventually(lambda: watch.used().cpu_s > 0.6 - TICKS_S)
        assert watch.used().threads == 3
    finally:
        actor.do("[os.kill(child, 9) for child in children]")


def test_reaped_child_stays_in_the_sum(actor: Actor) -> None:
    watch = Watch(actor.pid)
    for _ in range(2):
        actor.do(FORK + "os.waitpid(burning_child(hold=False), 0)")
    found = watch.used()
    assert 0.6 - TICKS_S < found.cpu_s < 0.9
    assert found.threads == 1


def test_unreaped_child_decreases_no_figure(actor: Actor) -> None:
    watch = Watch(actor.pid)
    actor.do(f"{IGNORING}{FORK}child = burning_child(hold=True)")
    assert eventually(lambda: watch.used().cpu_s > 0.3 - TICKS_S)
    seen = watch.used().cpu_s
    actor.do("os.kill(child, 9)")
    assert eventually(lambda: watch.used().threads == 1)
    assert watch.used().cpu_s >= seen


@pytest.fixture
def child_clock(actor: Actor) -> None:
    """Skip if the kernel refuses the clock of a child process."""
    try:
        ChildClock(actor.pid)
    except OSError as error:
        pytest.skip(f"no performance event may be counted here: {error}")


@pytest.mark.usefixtures("child_clock")
def test_children_with_ignored_sigchld_stay_in_the_sum(actor: Actor) -> None:
    root = psutil.Process(actor.pid)

    def burned(pid: str) -> bool:
        return sum(psutil.Process(int(pid)).cpu_times()[:2]) > 0.3 - TICKS_S

    old = actor.do(f"{IGNORING}{FORK}result = old = burning_child(hold=True)")
    assert eventually(lambda: burned(old))
    watch = Watch(actor.pid)
    actor.do("[burning_child(hold=False) for _ in range(2)]")
    assert eventually(lambda: len(root.children()) == 1)
    assert watch.used().cpu_s == pytest.approx(0.6, abs=2 * TICKS_S)
    # A running child is counted once; at its end it is neither lost nor counted again.
    new = actor.do("result = new = burning_child(hold=True)")
    assert eventually(lambda: burned(new))
    assert watch.used().cpu_s == pytest.approx(0.9, abs=2 * TICKS_S)
    actor.do("[os.kill(child, 9) for child in (old, new)]")
    assert eventually(lambda: not root.children())
    assert watch.used().cpu_s == pytest.approx(0.9, abs=2 * TICKS_S)


def test_sums_never_decrease() -> None:
    rising = Rising()
    assert rising.update((5.0, 1.0)) == (5.0, 1.0)
    assert rising.update((2.0, 3.0)) == (5.0, 3.0)
    assert rising.update((4.0, 2.0)) == (7.0, 3.0)


PAGES = 16_384
TOUCH = f"""
import mmap
held = mmap.mmap(-1, {PAGES} * mmap.PAGESIZE)
held.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(held), mmap.PAGESIZE):
    held[at] = 1
"""


def test_touched_pages_are_minor_faults_and_resident_memory(actor: Actor) -> None:
    watch = Watch(actor.pid)
    assert watch.start.target is not None
    # The kernel counts resident pages by core, and adds them up now and then.
    size = PAGES * os.sysconf("SC_PAGE_SIZE") // 2
    actor.do(TOUCH)
    touched = watch.used()
    assert PAGES <= (touched.minor_faults or 0) < PAGES + 1_000
    assert (touched.rss or 0) >= watch.start.target.resident_bytes + size
    actor.do("held.close()")
    after = watch.used()
    assert 0 < (after.rss or 0) <= (touched.rss or 0) - size
    assert (after.peak_rss or 0) >= watch.start.target.resident_bytes + size


SIZE = 8 << 20
WRITE = f"""
import os
written = os.open({{path!r}}, os.O_RDWR | os.O_CREAT)
os.write(written, os.urandom({SIZE}))
os.fsync(written)
"""
READ = f"""
import mmap
os.posix_fadvise(written, 0, 0, os.POSIX_FADV_DONTNEED)
with mmap.mmap(written, {SIZE}, prot=mmap.PROT_READ) as pages:
    pages.madvise(mmap.MADV_RANDOM)
    result = sum(pages[at] for at in range(0, {SIZE}, mmap.PAGESIZE)) >= 0
"""


def test_bytes_written_to_and_read_from_disk_are_counted(actor: Actor, on_disk: Path) -> None:
    watch = Watch(actor.pid)
    actor.do(WRITE.format(path=str(on_disk)))
    assert SIZE <= (watch.used().written_bytes or 0) < SIZE * 1.5
    assert actor.do(READ) == "True"
    found = watch.used()
    assert (found.read_bytes or 0) >= SIZE
    assert (found.major_faults or 0) > 0


def test_each_sleep_is_a_voluntary_switch(actor: Actor) -> None:
    watch = Watch(actor.pid)
    actor.do("import time\nfor _ in range(200): time.sleep(0.0005)")
    assert 200 <= (watch.used().voluntary_switches or 0) < 300


def test_two_processes_on_one_core_wait_and_are_switched(actor: Actor) -> None:
    watch = Watch(actor.pid)
    core = min(os.sched_getaffinity(0))
    # The kernel forgets an ended thread, so the monitor reads while the threads run.
    actor.do(
        f"import os; os.sched_setaffinity(0, {{{core}}}){FORK}"
        "children = [burning_child(hold=True) for _ in range(2)]"
    )
    try:
        assert eventually(lambda: (watch.used().waited_s or 0) > 0.1)
        assert eventually(lambda: (watch.used().involuntary_switches or 0) > 0)
    finally:
        actor.do("[os.kill(child, 9) for child in children]")


def test_allowed_cores_follow_the_affinity(actor: Actor) -> None:
    watch = Watch(actor.pid)
    assert watch.used().allowed_cores == tuple(sorted(os.sched_getaffinity(0)))
    last = max(os.sched_getaffinity(0))
    actor.do(f"import os; os.sched_setaffinity(0, {{{last}}})")
    assert watch.used().allowed_cores == (last,)


def test_open_descriptors_are_counted(actor: Actor) -> None:
    before = Watch(actor.pid).used().descriptors
    if before is None:
        pytest.skip("Linux tells it since 6.2")
    actor.do("held = [open('/dev/null') for _ in range(50)]")
    assert Watch(actor.pid).used().descriptors == before + 50


def test_ended_threads_stay_in_the_sums_by_name() -> None:
    reader = ProcessReader(os.getpid(), family=False)
    name, stop = b"burner", threading.Event()

    def burn() -> None:
        ctypes.CDLL(None).prctl(15, name, 0, 0, 0)  # PR_SET_NAME
        while not stop.is_set():
            pass

    def burned_s() -> float:
        found = reader.read()
        assert found is not None
        return found.thread_cpu_s.get(name.decode(), 0.0)

    thread = threading.Thread(target=burn)
    thread.start()
    try:
        assert eventually(lambda: burned_s() > 0.1)
    finally:
        stop.set()
        thread.join()
    assert eventually(lambda: burned_s() == 0.0)  # joined, and ending a moment later
    assert (after := reader.read())
    assert after.cpu_s > 0.1


def test_killed_unreaped_target_counts_as_ended(actor: Actor) -> None:
    monitor = Monitor(actor.pid)
    assert monitor.sample().target is not None
    start = monitor.sample()
    actor.kill()
    assert eventually(lambda: monitor.sample().target is None)
    assert use_between(start, monitor.sample(), 1.0).target is None


def test_process_of_an_unknown_target_is_none() -> None:
    pid = int(Path("/proc/sys/kernel/pid_max").read_text()) + 1
    assert Monitor(pid).sample().target is None


def test_cpu_of_the_generator_is_that_of_this_process_alone(actor: Actor) -> None:
    monitor = Monitor(None)
    start = monitor.sample()
    mine_s = time.process_time()
    actor.do(BURN)
    end = monitor.sample()
    used = use_between(start, end, 1.0)
    assert used.target is None
    assert used.generator.cpu_s == pytest.approx(time.process_time() - mine_s, abs=TICKS_S)


def test_throttling_by_a_quota_is_measured(actor: Actor) -> None:
    watch = Watch(actor.pid)
    with cpu_quota(0.1) as group:
        group.add(actor.pid)
        assert watch.used().throttled_s == 0.0
        began_s = time.monotonic()
        actor.do(BURN)
        use, elapsed_s = watch.used(), time.monotonic() - began_s
    # 0.3 s of CPU at 10 ms in each period of 100. The kernel throttles until the end of the period,
    # for a shorter time if the process has waited for a core.
    assert use.throttled_s is not None
    assert use.waited_s is not None
    assert 0 < use.throttled_s < elapsed_s
    assert use.throttled_s + use.waited_s > 1.0
    assert use.quota_cores == pytest.approx(0.1)


def test_unreadable_threads_are_not_counted_as_working() -> None:
    assert Stalls().look().looked == 0


def test_many_threads_are_read_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow reading on a busy machine would delay the next one.
    monkeypatch.setattr("sitebench.monitor.process._LOOK_BUDGET", 1.0)
    waits, runs = tmp_path / "waits", tmp_path / "runs"
    waits.write_text("1 (a D name) D 0")
    runs.write_text("2 (x) R 0")
    stalls = Stalls((str(waits),) * 300 + (str(runs),) * 300)
    # 256 waiting threads; 44 waiting among 212 running threads; the last 88, which run.
    assert eventually(lambda: stalls.look().looked == 3)
    assert stalls.stalled == pytest.approx(1 + 44 / 256)


def test_ancestry_lists_all_enclosing_control_groups() -> None:
    assert ancestry("/a/b", "/") == ["/a/b", "/a", ""]
    assert ancestry("/", "/") == [""]


def test_control_group_path_is_relative_to_the_mount() -> None:
    assert ancestry("/docker/ab/inner", "/docker/ab") == ["/inner", ""]
    assert ancestry("/docker/ab", "/docker/ab") == [""]


def test_control_group_outside_of_the_mount_is_unreadable() -> None:
    assert ancestry("/../other", "/") == []
