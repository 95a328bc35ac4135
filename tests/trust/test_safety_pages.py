"""Every row of docs/safety-evidence.md names a test that exists."""

import re

from tests.test_method_page import ROOT, without_a_test

PAGE = (ROOT / "docs/safety-evidence.md").read_text()
FAULTS = PAGE.partition("## Faults")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| (.*) \| (.+) \| (.+) \|$", FAULTS, re.MULTILINE)[1:]


def test_there_are_rows() -> None:
    assert len(ROWS) > 30
    assert set(ROWS[0]) != {"---"}


def test_every_row_names_a_test_that_exists() -> None:
    assert without_a_test(row[2] for row in ROWS) == []
