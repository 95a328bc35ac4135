"""A directory in Java, of the user's own, whose 200 threads wait for a disk: that is named.

It is run by hand, with UNBOUNDID_JAR naming the jar of com.unboundid:unboundid-ldapsdk (7.0.3 was
used) of Maven Central, which a machine without a way to the Internet has not got.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench.targets.address import DirectoryAddress
from sitebench.system.network import free_port
from tests.faults.groups import slow_writes
from tests.faults.holding import grades
from tests.support.cli import in_process
from tests.support.programs import required_program
from tests.support.slapd_folder import answers
from tests.support.waiting import eventually

LANES = 200


@contextlib.contextmanager
def durable(folder: Path) -> Iterator[tuple[str, int]]:
    """Run a directory that has a thread for each connection, and syncs each add to a file."""
    jar = os.environ.get("UNBOUNDID_JAR")
    if not jar:
        pytest.skip("UNBOUNDID_JAR does not name the jar of com.unboundid:unboundid-ldapsdk")
    source, port = Path(__file__).with_name("Durable.java"), free_port()
    log = folder / "java.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [required_program("java"), "-cp", jar, source, folder, str(port)],
            stdout=out,
            stderr=out,
        )
    try:
        there = DirectoryAddress("127.0.0.1", port)
        eventually(lambda: process.poll() is not None or answers(there))
        assert process.poll() is None, log.read_text()
        yield f"ldap://127.0.0.1:{port}", process.pid
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
@pytest.mark.alone
def test_a_directory_in_java_of_200_threads_that_sync_is_bound_by_its_disk(tmp_path: Path) -> None:
    with durable(tmp_path) as (url, pid), slow_writes(tmp_path, per_s=200) as group:
        group.add(pid)
        (point,) = in_process(
            *("ils", "run", "add", "--target", url, "--users", str(LANES), "--threads", "1"),
            *("--entries", "20", "--locales", "en_US", "--out", tmp_path / "run"),
            *("--warmup", "2s", "--measure", "5s", "--json"),
        ).objects
    assert (point["verdict"], point["valid"]) == ("disk", True), point["evidence"]
    assert "waited for a disk" in point["evidence"]
    assert point["resources"]["target"]["threads"] > LANES
    assert grades(point)["cpu"] == "no"
