"""Limits of a local target: real affinities, control groups and namespaces."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sitebench.errors import NotPossible, UnknownValue
from sitebench.targets.limits import Limits, confine, forget
from tests.support.cli import in_process

MIB = 1 << 20
ALLOCATE = "import sys; data = bytearray(int(sys.argv[1])); print(len(data))"
SEND = """
import socket, sys
with socket.create_server((sys.argv[1], 0)) as server:
    print(server.getsockname()[1], flush=True)
    connection, _ = server.accept()
    with connection:
        connection.sendall(bytes(int(sys.argv[2])))
"""


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("processors=2", Limits(processors=2)),
        ("memory=64m", Limits(memory=64 * MIB)),
        ("memory=1.5g", Limits(memory=1536 * MIB)),
        ("memory=64 MiB", Limits(memory=64 * MIB)),
        ("memory=2t", Limits(memory=MIB << 21)),
        ("network=10mbit", Limits(network=10_000_000)),
        ("disk=2mb/s", Limits(disk=2_000_000)),
        ("processors=1,memory=none,disk=512kb/s", Limits(processors=1, disk=512_000)),
    ],
)
def test_printed_limits_parse_to_themselves(text: str, limits: Limits) -> None:
    assert Limits.parse(text) == limits
    assert Limits.parse(str(limits)) == limits


def test_each_limit_has_only_one_spelling() -> None:
    """Limits identify points."""
    assert str(Limits(memory=64 * MIB, disk=1_500)) == "memory=64m,disk=1.5kb/s"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cpu=1", "'cpu' cannot be limited"),
        ("processors=0", "'0' is no limit of processors"),
        ("memory=64mbit", "'64mbit' is no limit of memory"),
        ("network=10", "'10' is no limit of network"),
        ("disk=fast", "'fast' is no limit of disk"),
        ("processors", "'' is no limit of processors"),
    ],
)
def test_invalid_limits_are_refused(text: str, words: str) -> None:
    with pytest.raises(UnknownValue, match=words):
        Limits.parse(text)


def ran(before: tuple[str, ...], code: str, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-c", code, *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_target_runs_only_on_its_processors() -> None:
    with confine(Limits(processors=1)) as confinement:
        shown = ran(confinement.before, "import os; print(len(os.sched_getaffinity(0)))")
    assert shown.stdout == "1\n"
    with (
        pytest.raises(NotPossible, match="processors, and not 4096"),
        confine(Limits(processors=4_096)),
    ):
        pass


def test_target_beyond_its_memory_limit_is_killed() -> None:
    with confine(Limits(memory=64 * MIB)) as confinement:
        assert ran(confinement.before, ALLOCATE, str(8 * MIB)).stdout == f"{8 * MIB}\n"
        killed = ran(confinement.before, ALLOCATE, str(256 * MIB))
        assert killed.returncode == -signal.SIGKILL
    assert not {*Path("/sys/fs/cgroup").rglob(f"sitebench-{os.getpid()}-*")}


def test_disk_with_the_targets_files_is_limited(tmp_path: Path) -> None:
    with confine(Limits(disk=2_000_000), tmp_path) as confinement:
        before = time.monotonic()
        write = "import os, sys; f = open(sys.argv[1], 'wb'); f.write(bytes(4 << 20)); os.fsync(f)"
        assert ran(confinement.before, write, str(tmp_path / "file")).returncode == 0
        took_s = time.monotonic() - before
    # 4 MiB take 2.1 s, and some of that may not be a wait for the disk.
    assert took_s > 1.0
    with pytest.raises(NotPossible, match="stores nothing on a disk"), confine(Limits(disk=1)):
        pass


def cached(path: Path) -> bool:
    """Whether the beginning of a file can be read without its disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    finally:
        os.close(file)


def test_limited_target_cannot_use_the_page_cache_of_other_programs(tmp_path: Path) -> None:
    """Otherwise a server with little memory finds all files in the seeder's page cache."""
    written = tmp_path / "folder" / "file"
    written.parent.mkdir()
    written.write_bytes(bytes(MIB))
    assert cached(written)
    forget(tmp_path)
    assert not cached(written)


def test_network_limit_caps_the_throughput() -> None:
    with confine(Limits(network=8_000_000)) as confinement:
        assert confinement.host is not None
        command = [*confinement.before, sys.executable, "-c", SEND, confinement.host, str(MIB)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
            assert sender.stdout is not None
            port = int(sender.stdout.readline())
            began = time.monotonic()
            with socket.create_connection((confinement.host, port)) as receiver:
                received = sum(len(part) for part in iter(lambda: receiver.recv(1 << 16), b""))
            took_s = time.monotonic() - began
    assert received == MIB
    # A MiB takes 1.05 s at a million bytes a second, less the burst of the token bucket.
    assert took_s > 0.9
    assert not Path(f"/run/netns/sitebench-{os.getpid()}-0").exists()


@pytest.mark.timeout(300)
def test_each_factor_is_varied_in_turn_with_the_others_constant(tmp_path: Path) -> None:
    factors = ("processors=1", "keys=uniform,zipfian", "processors=999", "target-threads=1,2")
    what = [word for factor in factors for word in ("--vary", factor)]
    ran = in_process(
        *("ils", "vary", "lookup", *what, "--entries", "100", "--users", "2", "--threads", "1"),
        *("--locales", "en_US", "--rate", "100", "--warmup", "0s", "--measure", "500ms"),
        *("--out", "run"),
        cwd=tmp_path,
    ).check(0, "left out: processors=999: this machine has")
    rows = [line.split() for line in ran.out.splitlines() if line.strip()]
    table = [row[:3] for row in rows if row[0] in ("processors", "keys", "target-threads")]
    factors_shown = [["processors", "1"], ["keys", "uniform"], ["keys", "zipfian"]]
    assert [row[:2] for row in table[:3]] == factors_shown
    assert "is the base" in ran.out
    assert [row[:2] for row in table[3:5]] == [["target-threads", "1"], ["target-threads", "2"]]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("ils", "vary", "--vary", "speed=1"), "'speed' cannot be varied"),
        (("ils", "vary", "--vary", "tls=maybe"), "--vary tls: 'maybe' is neither on nor off"),
        (("ps", "vary", "--vary", "workers"), "'workers' is not FACTOR=VALUES"),
        (("ps", "vary", "--vary", "rate=fast"), "rate"),
        (("ils", "run", "--target-limits", "cpu=1"), "'cpu' cannot be limited"),
    ],
)
def test_impossible_variation_is_refused(argv: tuple[str, ...], words: str) -> None:
    in_process(*argv).check(2, words)
