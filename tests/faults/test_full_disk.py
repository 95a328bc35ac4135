"""A full disk: one line reports it, no file is half-written; with space it continues."""

import contextlib
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.disks import Disk, small_disk
from tests.faults.served import LOCALES, RATE, Served
from tests.support.aftermath import Ground
from tests.support.cli import Ran
from tests.support.screen import Screen
from tests.support.serving import serving
from tests.support.waiting import eventually, left_s
from tests.support.web_page import web_ui

MANY = ("--entries", "3k", "--locales", ",".join(LOCALES))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk", "1m") as made:
        yield made


def refused(ran: Ran) -> str:
    """Check that a command reported its failure and advised to make room; return the report."""
    assert ran.code in {1, 2}
    what, remedy = ran.err.strip().splitlines()[-2:]
    assert what.startswith("sitebench: ")
    assert "room" in remedy or "space" in remedy, remedy
    return what


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            continue


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_sweep_continues_after_its_full_disk_has_space_again(ground: Ground, disk: Disk) -> None:
    ground.run = disk.path / ground.run.name
    sweep = ("ils", "sweep", "--sizes", "20", "--operations", "connect,lookup", "--json")
    load = ("--locales", ",".join(LOCALES), "--users", "2", "--threads", "1", "--warmup", "0s")
    out = (*RATE, "--measure", "4s", "--out", str(ground.run))
    with ground.started(*sweep, *load, *out) as process:
        assert eventually(lambda: ground.windows() == 2 or process.poll() is not None)
        finished = ground.done()
        fill(disk.path / "filler")
        said, err = process.communicate(timeout=left_s())
    what = refused(Ran(process.returncode, said, err))
    assert what == f"sitebench: cannot write run file {ground.run}: database or disk is full"
    ground.assert_over()
    assert ground.done() == finished
    disk.grow("16m")
    resumed = ground.ran("resume", str(ground.run)).check(0)
    assert [point["resumed"] for point in resumed.objects] == [True, False]
    (key,) = finished
    assert ground.done()[key] == finished[key]
    assert names(disk.path) == {ground.run.name, "filler"}
    ground.assert_clean()


def test_ldif_file_is_continued_after_its_full_disk_has_space_again(
    ground: Ground, disk: Disk
) -> None:
    path = disk.path / "people.ldif"
    seed = ("ils", "seed", "--to", str(path), *MANY)
    assert "No space left on device" in refused(ground.here(*seed))
    assert names(disk.path) == {"people.ldif.part"}
    disk.grow("16m")
    assert ground.here(*seed).code == 0
    assert names(disk.path) == {"people.ldif"}
    assert ground.here("ils", "verify", str(path), *MANY).code == 0


def test_slapd_folder_is_continued_after_full_disk(ground: Ground, disk: Disk, slapd: Path) -> None:
    folder = f"slapd:{disk.path / 'people'}"
    seed = ("ils", "seed", "--to", folder, *MANY)
    assert "slapadd could not load the people" in refused(ground.here(*seed))
    disk.grow("64m")
    assert ground.here(*seed).code == 0
    assert ground.here("ils", "verify", folder, *MANY).code == 0


def test_database_on_a_full_disk_is_complete_or_missing(ground: Ground, disk: Disk) -> None:
    upd = disk.path / "people.upd"
    seed = ("ps", "seed", str(upd), "--locales", ",".join(LOCALES), "--entries", "10k")
    assert "the disk is full" in refused(ground.here(*seed))
    assert names(disk.path) == set()
    disk.grow("16m")
    assert ground.here(*seed).code == 0
    assert names(disk.path) == {upd.name}


def test_site_on_a_full_disk_shows_pages_and_recovers(ground: Ground, disk: Disk) -> None:
    some = ("--entries", "1k", "--locales", ",".join(LOCALES))
    upd = disk.path / "people.upd"
    assert ground.here("ps", "seed", str(upd), *some).code == 0
    with serving("ps", "--database", str(upd), *some) as (process, greeting):
        url = greeting[0].split(" at ")[1].split()[0]
        fill(disk.path / "filler")
        load = ("ps", "run", "--target", url, *some, "--users", "4", *RATE, "--warmup", "0s")
        full = ground.point(*load, "--measure", "2s")
        assert set(full["failures_by_kind"]) == {"status:503"}
        done = {step["step"]: step for step in full["steps"]}
        assert done["page"]["failures"] == 0 < done["page"]["count"]
        assert done["update"]["failures"] == done["update"]["count"] > 0
        disk.grow("32m")
        ground.run.unlink()
        assert ground.point(*load, "--measure", "1s")["failures_by_kind"] == {}
        process.terminate()
        said, _ = process.communicate(timeout=left_s())
        assert process.returncode == 0, said
    assert "the site stores no writes: database or disk is full" in said
    assert "the site stores writes again" in said
    assert len(said.splitlines()) < 100
    assert names(disk.path) == {"people.upd", "filler"}


def test_output_file_on_a_full_disk_is_complete_or_missing(
    ground: Ground, directory: Served, tmp_path: Path
) -> None:
    ground.point(*directory.run(), "--warmup", "0s", "--measure", "500ms")
    with small_disk(tmp_path / "disk", "4k") as disk:
        made = {
            ("export", "--format", "hlog"): disk.path / "made.hlog",
            ("report",): disk.path / "made.html",
        }
        argvs = [(*argv, str(ground.run), "--out", str(out)) for argv, out in made.items()]
        for argv in argvs:
            assert "No space left on device" in refused(ground.here(*argv))
            assert names(disk.path) == set()
        disk.grow("64m")
        for argv in argvs:
            assert ground.here(*argv).code == 0
        assert names(disk.path) == {out.name for out in made.values()}


def test_full_disk_is_reported_by_the_web_ui(ground: Ground, disk: Disk, tmp_path: Path) -> None:
    few = ("--entries", "300", "--locales", ",".join(LOCALES), "--threads", "1", *RATE)
    output: list[str] = []
    there = ground.environment | {"TMPDIR": str(disk.path)}
    out = ("--out", str(ground.run))
    ui = web_ui(ground.folder, "ils", *few, *out, output=output, forked=False, **there)
    with ui as (_, root):
        screen = Screen(root)
        screen.start("LookupUser")
        screen.until_done("lookup", 100)
        # The first copy is made before the disk is full, because Python avoids a full temporary
        # folder.
        screen.download(tmp_path / "copy")
        fill(disk.path / "filler")
        for copied in ("run", "report"):
            with pytest.raises(urllib.error.HTTPError) as refusal:
                screen.get(f"/sitebench/{copied}")
            (line,) = refusal.value.read().decode().splitlines()
            assert line.startswith("cannot copy the run file to ")
            assert line.endswith(
                ": database or disk is full; free space there, or set $TMPDIR to a folder with "
                "more space"
            )
        disk.grow("64m")
        screen.stop()
        assert screen.download(tmp_path / "copy").stat().st_size > 0
    (words,) = output
    assert "Traceback" not in words
    assert names(disk.path) == {"filler"}
