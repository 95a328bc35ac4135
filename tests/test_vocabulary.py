"""The counter of empty names, in a checkout of one file."""

import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.vocabulary import BUDGETS, empty_names, lower, surplus

MODULE = "def read_rows(path):\n    found = path.read_text()\n    return found\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "sitebench/counts").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "sitebench/counts/rows.py").write_text(MODULE)
    (tmp_path / BUDGETS).write_text('"sitebench/counts" = { variables = 1 }\n')
    subprocess.run(["git", "init", "-q"], check=True, cwd=tmp_path)
    subprocess.run(["git", "add", "."], check=True, cwd=tmp_path)
    author = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *author, "commit", "-qm", "rows"], check=True, cwd=tmp_path)
    return tmp_path


def test_new_name_without_meaning_is_refused_with_its_place(checkout: Path) -> None:
    assert surplus(checkout) == []
    module = checkout / "sitebench/counts/rows.py"
    module.write_text(MODULE + "\n\ndef count_rows(rows):\n    found = len(rows)\n")
    (message,) = surplus(checkout)
    assert "sitebench/counts: 2 variables" in message
    assert "1 allowed" in message
    assert "sitebench/counts/rows.py:7: found" in message
    assert "sitebench/counts/rows.py:2: found" not in message


def test_budget_of_names_without_meaning_is_lowered_and_never_raised(checkout: Path) -> None:
    (checkout / "sitebench/counts/rows.py").write_text(MODULE * 2)
    lower(checkout)
    assert tomllib.loads((checkout / BUDGETS).read_text()) == {"sitebench/counts": {"variables": 1}}
    (checkout / "sitebench/counts/rows.py").write_text("rows = []\n")
    lower(checkout)
    assert tomllib.loads((checkout / BUDGETS).read_text()) == {}


def test_meaningless_names_of_parameters_attributes_and_functions_are_counted() -> None:
    source = """\
class Rows:
    def counted(self, what, rows):
        self._kept = rows

    def feed(self, count_of_rows):
        self.kept_rows = [row for row in count_of_rows]

    async def of(self):
        pass
"""
    assert list(empty_names(source)) == [
        (2, "functions", "counted"),
        (8, "functions", "of"),
        (2, "parameters", "what"),
        (3, "attributes", "_kept"),
    ]
