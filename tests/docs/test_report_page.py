"""docs/report.md explains every section of a report and every column of its table."""

import re

from sitebench.report.sections.trust import STAMPS
from tests.docs.cli_page import ROOT

PAGE = (ROOT / "docs/report.md").read_text()
SOURCES = "\n".join(
    path.read_text() for path in sorted((ROOT / "sitebench/report/sections").glob("*.py"))
)


def test_every_section_of_a_report_has_its_paragraph() -> None:
    sections = re.findall(r"Section\(\s*\"[\w-]+\",\s*\"([^\"]+)\"", SOURCES)
    assert len(sections) >= 12
    for title in sections:
        assert f"\n## {title}\n" in PAGE


def test_every_stamp_is_explained() -> None:
    words = {stamp for line in re.findall(r"\n\| ([^|]+) \|", PAGE) for stamp in line.split("; ")}
    assert words >= set(STAMPS)
