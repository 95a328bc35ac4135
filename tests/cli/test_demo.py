"""`sitebench demo`: its measurements, output and files, also if interrupted or repeated."""

import signal
from pathlib import Path

import pytest

from sitebench.runs.runfile import RunFile
from sitebench.suite import Suite, suite
from tests.support.aftermath import Ground
from tests.support.cli import in_process, without_note
from tests.support.waiting import eventually, left_s

SHORT = ("demo", "ps", "--measure", "300ms")


def test_demo_measures_reports_and_skips_measured_points(tmp_path: Path) -> None:
    ran = in_process(*SHORT, "--out", "new/folder", cwd=tmp_path).check(0)
    assert "More: " not in ran.out
    title, head, row, *_ = ran.out.splitlines()
    assert title.startswith("embedded, 64 clients")
    assert [head.split()[0], row.split()[0]] == ["Operation", "scenario"]
    first, takes, *_, page, next_, command = ran.err.splitlines()
    assert "shared by the servers and the load generator" in first
    assert takes == "The demo takes 19 to 38 s; Ctrl-C stops it."
    assert page == "report: new/folder/demo.html"
    assert (next_, command) == ("Next, try:", "  sitebench ps serve --entries 10k")
    assert "<html" in (tmp_path / "new/folder/demo.html").read_text()[:200]
    with RunFile(tmp_path / "new/folder/demo-ps.sitebench") as run:
        before = run.points()
        # `sitebench resume` repeats this command, and `sitebench demo` has no --resume.
        assert run.manifest()["command"][:3] == ["sitebench", "ps", "sweep"]
    first_tries = [point for point in before if point.spec.threads is None]
    assert len(first_tries) == suite("ps").demo.points
    assert {point.status for point in before} == {"done"}

    in_process(*SHORT, "--out", "new/folder", cwd=tmp_path).check(
        0, "All points were measured before; to measure again, remove new/folder/demo-ps"
    )
    with RunFile(tmp_path / "new/folder/demo-ps.sitebench") as run:
        assert run.points() == before

    in_process("demo", "ps", "--measure", "1s", "--out", "new/folder", cwd=tmp_path).check(
        2, "demo-ps.sitebench was made by another command: sitebench ps sweep"
    )


@pytest.mark.parametrize("each", [suite("ils"), suite("web")], ids=lambda each: each.name)
def test_ctrl_c_in_demo_prints_one_line_with_the_announced_points(
    tmp_path: Path, each: Suite
) -> None:
    ground = Ground(tmp_path)
    file = tmp_path / f"demo-{each.name}.sitebench"
    ground.run = file
    with ground.started("demo", each.name) as process:
        assert eventually(lambda: "warmup" in ground.phases())
        process.send_signal(signal.SIGINT)
        said = without_note(process.communicate(timeout=left_s())[1])
    assert process.returncode == 130
    after = said[said.index(f"--out {file.name}\n") :].splitlines()[1:]
    points = each.demo.points
    assert after == [
        f"interrupted: 0 of {points} points are measured; continue with: sitebench demo {each.name}"
    ]
    with RunFile(file) as run:
        assert len(run.points()) == points
    assert eventually(lambda: not ground.processes()), ground.processes()
