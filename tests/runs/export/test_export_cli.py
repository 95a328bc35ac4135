"""`sitebench export` with the files of users."""

import contextlib
import sqlite3
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from click.testing import CliRunner

from sitebench.cli.main import app
from sitebench.errors import BadFile, BadInput, BadRunFile, UnknownValue
from tests.support.cli import SITEBENCH


def export(*argv: object) -> None:
    CliRunner().invoke(app, ["export", *map(str, argv)], catch_exceptions=False)


def test_closed_pipe_of_an_export_is_no_error(path: Path) -> None:
    command = [*SITEBENCH, "export", str(path), "--what", "samples"]
    with Popen(command, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("form", "what", "damage"),
    [
        ("csv", "timeline", "UPDATE timeline SET latency = x''"),
        ("hlog", "points", "UPDATE points SET started = 1e18"),
    ],
)
def test_impossible_values_are_reported_as_damage(
    path: Path, tmp_path: Path, form: str, what: str, damage: str
) -> None:
    """Discovered by tests/trust/test_hostile_files.py."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(damage)
    with pytest.raises(BadRunFile, match="damaged"):
        export(path, "--format", form, "--what", what, "--out", tmp_path / "out")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_unknown_format_or_table_is_refused_before_reading(path: Path) -> None:
    with pytest.raises(UnknownValue, match="unknown choice 'xml'"):
        export(path, "--format", "xml")
    with pytest.raises(BadInput, match="--what applies to CSV"):
        export(path, "--format", "hlog", "--what", "samples")


def test_run_file_is_not_overwritten(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(BadInput, match="is the run file itself"):
        export(path, "--out", path)
    assert path.read_bytes() == before


def test_missing_folder_of_an_export_is_named(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"cannot write .*absent/out"):
        export(path, "--out", tmp_path / "absent" / "out")


def test_export_to_a_device_keeps_the_device(path: Path) -> None:
    export(path, "--out", "/dev/null")
    assert Path("/dev/null").is_char_device()
