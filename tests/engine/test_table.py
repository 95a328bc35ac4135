"""Rows read by the engine, compared with Python's own CSV reader."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitebench._engine import Engine, EngineError, Table


def written(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def numbered(width: int) -> list[str]:
    return [f"c{n}" for n in range(width)]


def rows_of(table: Table) -> list[list[str]]:
    columns = range(len(table.columns))
    return [[table.cell(row, column) for column in columns] for row in range(table.rows)]


@given(st.text(st.sampled_from('ab\u00e4",\n'), max_size=30))
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_python_and_rust_accept_and_refuse_the_same_files(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "rows.csv", text)
    try:
        expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        expected = []
    width = len(expected[0]) if expected else 1
    if expected and all(len(row) == width for row in expected):
        assert rows_of(Table.read(path, columns=numbered(width))) == expected
        assert Table.head(path) is not None
    else:
        with pytest.raises(EngineError) as caught:
            Table.read(path, columns=numbered(width))
        assert str(caught.value).startswith(f"{path}, line ")


def test_header_is_returned_with_its_line_and_fields(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", '\n\n"a ""b""";c\n1;2\n')
    assert Table.head(path, ";") == (3, ['a "b"', "c"])
    assert Table.head(written(tmp_path / "empty.csv", "\n")) is None


def test_table_error_has_file_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "uid,mail\nann,a@example.com\nben\n")
    with pytest.raises(EngineError) as caught:
        Table.read(path)
    assert str(caught.value).startswith(f"{path}, line 3, column 4: the line ends after 1 of 2")
    assert caught.value.kind == "BadFile"
    for separator in ("\u00e4", '"'):
        with pytest.raises(EngineError, match="cannot separate cells"):
            Table.read(path, separator)
    with pytest.raises(EngineError, match=r"cannot read .*none\.csv"):
        Table.read(tmp_path / "none.csv")


def test_missing_cell_or_column_is_an_index_error(tmp_path: Path) -> None:
    table = Table.read(written(tmp_path / "rows.csv", "a,b\n1,2\n"))
    for row, column in ((1, 0), (0, 2)):
        with pytest.raises(IndexError, match="the table has"):
            table.cell(row, column)
    with pytest.raises(IndexError):
        table.digest("a", 2)
    names = {"template": "uid={i}", "count": 1}
    target = {"host": "127.0.0.1", "port": 1, "base": "o=Intranet", "names": names}
    config = json.dumps({"target": target})
    with pytest.raises(IndexError):
        Engine(config, None, (table, 2))
