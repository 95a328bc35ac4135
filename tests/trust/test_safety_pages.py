"""Every row of docs/safety-evidence.md names a test that exists."""

import re
from pathlib import Path

import pytest

from tests.test_method_page import ROOT, names_in

PAGE = (ROOT / "docs/safety-evidence.md").read_text()
FAULTS = PAGE.partition("## Faults")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| (.*) \| (.+) \| (.+) \|$", FAULTS, re.MULTILINE)[1:]


def test_there_are_rows() -> None:
    assert len(ROWS) > 30
    assert set(ROWS[0]) != {"---"}


@pytest.mark.parametrize("named", [row[2] for row in ROWS])
def test_every_row_names_a_test_that_exists(named: str) -> None:
    found = re.fullmatch(r"`([\w/.-]+)::(\w+)`", named)
    assert found is not None, f"{named} names no test"
    file = ROOT / Path(found[1])
    assert file.is_file(), f"{file} is not there"
    assert found[2] in names_in(file), f"{found[1]} has no test {found[2]}"
