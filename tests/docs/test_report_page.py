"""docs/report.md explains every section of a report and every column of its table."""

import re

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
    stamps = re.findall(r"class=\"stamp \w+\">([^<{]+)", SOURCES)
    assert len(stamps) >= 5
    for stamp in stamps:
        assert f"| {stamp}" in PAGE
