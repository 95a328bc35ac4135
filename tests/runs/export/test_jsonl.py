"""JSON Lines hold a whole run file: what comes back is equal in every row."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sitebench.errors import BadFile
from sitebench.runs.export import jsonl
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from tests.support.runs import SCHEMA_1


def everything(path: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(path)
    return {table: sorted(db.execute(f"SELECT * FROM {table}")) for table in jsonl.TABLES}


def lines_of(path: Path) -> list[str]:
    with RunFile(path) as run:
        return list(jsonl.write(run))


def test_what_comes_back_is_equal_in_every_row(path: Path, tmp_path: Path) -> None:
    jsonl.read(lines_of(path), "lines", tmp_path / "back")
    assert all(everything(path).values()), "every table has something to lose"
    assert everything(tmp_path / "back") == everything(path)
    assert lines_of(tmp_path / "back") == lines_of(path)


def test_a_file_of_schema_1_comes_back_as_its_upgrade(tmp_path: Path) -> None:
    jsonl.read(lines_of(SCHEMA_1), "lines", tmp_path / "back")
    upgraded = tmp_path / "upgraded"
    upgraded.write_bytes(SCHEMA_1.read_bytes())
    RunStore(upgraded).close()
    assert everything(tmp_path / "back") == everything(upgraded)


def test_columns_that_a_newer_sitebench_adds_are_passed_over(path: Path, tmp_path: Path) -> None:
    newer = [
        json.dumps(json.loads(line) | {"colour": "green"}) if '"table"' in line else line
        for line in lines_of(path)
    ]
    jsonl.read(newer, "lines", tmp_path / "back")
    assert everything(tmp_path / "back") == everything(path)


def changed(**other: object) -> Callable[[str], str]:
    return lambda line: json.dumps(json.loads(line) | other)


@pytest.mark.parametrize(
    ("table", "change", "why"),
    [
        ("manifest", lambda line: line[:-5], "is no JSON"),
        ("manifest", lambda line: "[1]", "is no JSON object"),
        ("manifest", changed(table="colours"), "KeyError"),
        ("points", changed(status="finished"), "CHECK constraint"),
        ("points", changed(spec={"half": "ils"}), "missing"),
        ("points", changed(result={"valid": True}), "KeyError"),
        ("points", changed(id=1, key="another"), "UNIQUE constraint"),
        ("steps", changed(point=99), "FOREIGN KEY"),
        ("steps", changed(count="many"), "cannot store TEXT"),
        ("timeline", changed(latency="AAAA"), "ValueError"),
        ("timeline", changed(latency="?"), "Error"),
        ("samples", changed(who=None), "NOT NULL"),
    ],
)
def test_a_broken_line_is_named_and_nothing_of_the_rest_stays(
    path: Path, tmp_path: Path, table: str, change: Callable[[str], str], why: str
) -> None:
    lines = lines_of(path)
    number = max(n for n, line in enumerate(lines) if f'"table": "{table}"' in line)
    lines[number] = change(lines[number])
    with pytest.raises(BadFile, match=f"^lines, line {number + 1} .*{why}"):
        jsonl.read(lines, "lines", tmp_path / "back")
    assert not any(everything(tmp_path / "back").values())


def test_lines_that_end_early_are_refused(path: Path, tmp_path: Path) -> None:
    for kept in (1, 5, -1):
        with pytest.raises(BadFile, match="is not whole"):
            jsonl.read(lines_of(path)[:kept], "lines", tmp_path / "back")


def test_a_newer_schema_and_other_programs_lines_are_refused(tmp_path: Path) -> None:
    for line, why in {
        '{"sitebench": "run", "schema": 99}': "has schema 99",
        '{"level": "info"}': "not of a run file",
    }.items():
        with pytest.raises(BadFile, match=why):
            jsonl.read([line], "lines", tmp_path / "back")
