"""File sets on a disk: complete, or continued after any interruption."""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitebench.errors import BadFile, BadInput
from tests.faults.disks import Disk, small_disk
from tests.support.waiting import left_s
from tests.web_bench.docroots import SPEC, contents
from web_bench.targets import web_server
from web_bench.targets.web_server import WebServer
from web_bench.workload import file_set, seed

ROOT = Path(__file__).parents[2]
MANY = SPEC | {
    "name": "many",
    "classes": [
        {"name": "first", "sizes": [1_000], "files": 2},
        {"name": "large", "sizes": [300_000], "files": 4},
        {"name": "small", "sizes": [1_000, 5_000], "files": 3_000},
    ],
}
SEEDING = """
import json, resource, sys, time
from pathlib import Path
from web_bench.workload import seed

def progress(done, total):
    print(done, flush=True)
    time.sleep(float(sys.argv[3]))

seed(json.loads(sys.argv[1]), Path(sys.argv[2]), progress)
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def seeding(spec: dict[str, Any], docroot: Path, pause_s: float = 0.0) -> "subprocess.Popen[str]":
    """Start a seeding that pauses after each report, and therefore reports often."""
    argv = [sys.executable, "-c", SEEDING, json.dumps(spec), str(docroot), str(pause_s)]
    return subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def read_reports(process: "subprocess.Popen[str]", count: int) -> list[int]:
    assert process.stdout is not None
    return [int(process.stdout.readline()) for _ in range(count)]


def assert_whole(docroot: Path) -> None:
    files, found = file_set(MANY), contents(docroot)
    assert all(found[files.path(i)[1:]] == files.content(i) for i in range(files.count))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk", "2m") as made:
        yield made


def test_manifest_lists_the_files(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    manifest = seed(SPEC, tmp_path, lambda done, total: calls.append((done, total)))
    first, *lines, last = map(json.loads, manifest.read_text().splitlines())
    assert first == {"format": 1, "spec": SPEC}
    found = contents(tmp_path / "mixed")
    assert last == {"files": len(found), "bytes": sum(map(len, found.values()))}
    assert [(line["path"], line["size"], line["sha256"]) for line in lines] == [
        (line["path"], len(content), hashlib.sha256(content).hexdigest())
        for line in lines
        for content in [found[line["path"].removeprefix("/mixed/")]]
    ]
    assert len({line["path"] for line in lines}) == len(found) == 20 + 40 + 1 + 12
    assert calls[-1] == (last["bytes"], last["bytes"])
    assert calls == sorted(calls)
    assert manifest == tmp_path / "mixed.manifest"


def test_killed_seeding_is_continued(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    seed(MANY, whole)
    expected = contents(whole)
    manifest, reported = killed / "many.manifest", []
    for reports in (1, 2, 3, 5, 8, 12):
        # Longer than the interval between two reports, so each file or piece is reported.
        with seeding(MANY, killed, 0.101) as process:
            reported += read_reports(process, reports)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        assert expected["many.manifest"].startswith(manifest.read_bytes())
    # For example within one of the large files.
    assert {2_000 + 65_536, 2_000 + 300_000} <= {*reported}
    for after_s in (0.005, 0.01, 0.02, 0.04, 0.08):
        with seeding(MANY, killed) as process:
            read_reports(process, 1)
            time.sleep(after_s)
            process.kill()
        assert expected["many.manifest"].startswith(manifest.read_bytes())
    seed(MANY, killed)
    assert contents(killed) == expected


def test_seeding_continues_after_ctrl_c(tmp_path: Path) -> None:
    with seeding(MANY, tmp_path, 0.101) as process:
        read_reports(process, 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=left_s())
    assert err.splitlines()[-1].startswith("KeyboardInterrupt")
    lines = (tmp_path / "many.manifest").read_text().splitlines()
    assert "sha256" in lines[-1] or len(lines) == 1
    done: list[int] = []
    seed(MANY, tmp_path, lambda now, _: done.append(now))
    assert done[-1] == file_set(MANY).bytes
    assert_whole(tmp_path)


def test_exception_of_the_progress_callback_ends_the_seeding(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def enough(done: int, total: int) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        seed(SPEC, tmp_path, enough)
    assert seed(SPEC, tmp_path).read_text().endswith("}\n")


def test_full_disk_is_named_with_the_missing_space_and_seeding_continues(disk: Disk) -> None:
    (disk.path / "index.html").write_text("someone's")
    with pytest.raises(BadFile) as caught:
        seed(MANY, disk.path)
    total = file_set(MANY).bytes
    found = re.fullmatch(
        rf"the disk is full: {disk.path}/(many\S*) could not be written, and (\d+) bytes "
        "of its file set are missing",
        caught.value.message,
    )
    assert found is not None, caught.value.message
    assert total - 2 * 2**20 < int(found[2]) < total
    assert caught.value.remedy == "free some space and run it again to continue"
    before = contents(disk.path)
    assert found[1] not in before or found[1] == "many.manifest"
    disk.grow("64m")
    seed(MANY, disk.path)
    after = contents(disk.path)
    assert before.items() - {("many.manifest", before["many.manifest"])} <= after.items()
    assert_whole(disk.path)


def test_another_set_an_unwritable_folder_and_an_empty_set_are_refused(tmp_path: Path) -> None:
    manifest = seed(SPEC, tmp_path)
    before = contents(tmp_path)
    with pytest.raises(BadFile) as caught:
        seed(SPEC | {"seed": 8}, tmp_path)
    assert caught.value.message == f"{manifest} is of another file set (seed 7 instead of 8)"
    assert caught.value.remedy == "remove it with the folder beside it, or name another folder"
    assert contents(tmp_path) == before
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=rf"^cannot write {tmp_path}/file: "):
        seed(SPEC, tmp_path / "file")
    with pytest.raises(BadInput, match="has no class"):
        seed(SPEC | {"classes": []}, tmp_path)


def test_memory_of_seeding_does_not_depend_on_the_size_of_the_set(tmp_path: Path) -> None:
    def peak_kb(files: int, size: int) -> int:
        few = [{"name": "a", "sizes": [100], "files": files}, {"name": "b", "sizes": [size]}]
        spec = MANY | {"files_per_class": 1, "classes": few}
        with seeding(spec, tmp_path / f"{files}") as process:
            out, err = process.communicate(timeout=left_s())
        assert process.returncode == 0, err
        return int(out.split()[-1])

    assert peak_kb(5_000, 50_000_000) < 1.05 * peak_kb(20, 1_000)


# A user's folder is served: the visible files, and the descriptors of programs.


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("asked_for", [False, True])
def test_dot_files_are_served_only_if_the_server_is_so_configured(
    tmp_path: Path, asked_for: bool
) -> None:
    for name in (".git/config", "a/.env", "index.html", ".well-known/acme"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("content")
    with WebServer(tmp_path, dot_files=asked_for) as server:
        found = {name: status(f"{server.url}/{name}") for name in (".git/config", "a/%2eenv")}
        others = {status(f"{server.url}/{name}") for name in ("index.html", ".well-known/acme")}
    assert set(found.values()) == {200 if asked_for else 404}
    assert others == {200}


def test_programs_inherit_no_descriptor_of_the_servers_parent() -> None:
    reads, writes = os.pipe()
    with contextlib.closing(os.fdopen(reads)), contextlib.closing(os.fdopen(writes, "w")):
        os.set_inheritable(writes, True)
        web_server._keep_from_programs()
        ran = subprocess.run(
            ["ls", "/proc/self/fd"], close_fds=False, capture_output=True, check=True
        )
    assert str(writes) not in ran.stdout.decode().split()
