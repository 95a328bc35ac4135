"""`sitebench export` and `sitebench import` with files as people give them."""

import contextlib
import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from sitebench.cli.export import export, import_run
from sitebench.errors import BadFile, BadInput, BadRunFile, UnknownValue
from sitebench.runs.runfile import RunFile
from tests.support.cli import SITEBENCH, sitebench


def test_a_run_goes_out_and_comes_in_again(path: Path, tmp_path: Path) -> None:
    lines, back = tmp_path / "run.jsonl", tmp_path / "back.sitebench"
    ran = sitebench("export", str(path), "--format", "jsonl", "--out", str(lines))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = sitebench("import", str(lines), "--out", str(back))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    with RunFile(path) as first, RunFile(back) as second:
        assert first.points() == second.points()
    assert sorted(p.name for p in tmp_path.iterdir()) == [back.name, lines.name, path.name]


def test_a_log_goes_out_and_comes_in_as_histograms(path: Path, tmp_path: Path) -> None:
    export(path, form="hlog", out=str(tmp_path / "run.hlog"))
    import_run(tmp_path / "run.hlog", tmp_path / "back.sitebench")
    with RunFile(path) as first, RunFile(tmp_path / "back.sitebench") as second:
        assert len(first.timeline(1)) == len(second.timeline(1)) == 6


def test_who_reads_only_the_first_lines_gets_no_complaint(path: Path) -> None:
    command = [*SITEBENCH, "export", str(path), "--what", "samples"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_broken_line_leaves_no_file(path: Path, tmp_path: Path) -> None:
    lines, back = tmp_path / "run.jsonl", tmp_path / "back.sitebench"
    export(path, form="jsonl", out=str(lines))
    text = lines.read_text().splitlines()
    lines.write_text("\n".join([*text[:7], text[7][:20], *text[8:]]))
    ran = sitebench("import", str(lines), "--out", str(back))
    assert ran.code == 2
    assert ran.err.startswith(f"sitebench: {lines}, line 8 is no JSON")
    assert len(ran.err.splitlines()) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == [lines.name, path.name]


@pytest.mark.parametrize(
    ("form", "what", "damage"),
    [
        ("csv", "timeline", "UPDATE timeline SET latency = x''"),
        ("jsonl", "points", "UPDATE manifest SET value = ''"),
        ("hlog", "points", "UPDATE points SET started = 1e18"),
    ],
)
def test_values_that_no_run_has_written_are_named_as_damage(
    path: Path, tmp_path: Path, form: str, what: str, damage: str
) -> None:
    """Found by tests/trust/test_hostile_files.py."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with pytest.raises(BadRunFile, match="damaged"):
        export(path, form=form, what=what, out=str(tmp_path / "out"))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_what_is_no_run_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    for name in ("absent", "text", "."):
        with pytest.raises(BadRunFile):
            export(tmp_path / name)


def test_words_that_mean_nothing_are_refused_before_anything_is_read(path: Path) -> None:
    with pytest.raises(UnknownValue, match="unknown format 'xml'"):
        export(path, form="xml")
    with pytest.raises(UnknownValue, match="unknown rows 'lines'"):
        export(path, what="lines")
    with pytest.raises(UnknownValue, match="--what is for CSV"):
        export(path, form="hlog", what="samples")


def test_a_run_file_is_not_written_over(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(BadInput, match="is the run file itself"):
        export(path, out=str(path))
    (tmp_path / "lines").write_text("{}")
    with pytest.raises(BadInput, match="is there already"):
        import_run(tmp_path / "lines", path)
    assert path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot write .*absent/out"):
        export(path, out=str(tmp_path / "absent" / "out"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"point,half,operation\n1,ils,lookup\n", "is neither JSON Lines nor a histogram log"),
        (b"SQLite format 3\0\xff\xfe", "is no text"),
        (json.dumps({"sitebench": "run", "schema": 99}).encode(), "has schema 99"),
    ],
)
def test_what_cannot_be_imported_is_said_in_a_line(
    tmp_path: Path, content: bytes, why: str
) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(BadFile, match=why):
        import_run(tmp_path / "file", tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_device_is_written_to_and_stays_one(path: Path) -> None:
    export(path, out="/dev/null")
    assert Path("/dev/null").is_char_device()
