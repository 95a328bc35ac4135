"""Lists in pages are complete: columns, keys, fields, warnings, defaults."""

import dataclasses
import inspect
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ils_bench.sequences import Step
from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.api.result import Result
from sitebench.report.sections.trust import STAMPS
from sitebench.verdict.warning import WarningKind
from tests.docs import cli_page
from tests.docs.cli_page import ROOT


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def section(text: str, title: str) -> str:
    """Return the text below a heading, up to the next heading."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """Return the code in the first cells of a text's tables."""
    rows = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    return [code for row in rows for code in re.findall("`([^`]+)`", row)]


@pytest.mark.user_property_db(entries=1)
def test_page_lists_the_columns_of_the_site_database(user_property_db: Path) -> None:
    told = section(page("personalized-site.md"), "The database")
    with closing(sqlite3.connect(user_property_db)) as db:
        people = [(row[1], row[2]) for row in db.execute("PRAGMA table_info(people)")]
        facts = {key for (key,) in db.execute("SELECT key FROM meta")}
    types = re.findall(r"^\| (`.+?) \| (\w+) \|", told, re.MULTILINE)
    assert [(name, kind) for cell, kind in types for name in first_cells(f"| {cell} |")] == people
    assert facts <= set(re.findall("`([^`]+)`", told.partition("Table `meta`")[2]))


def test_page_lists_every_step_of_sequences() -> None:
    steps = {each.__name__ for each in Step.__subclasses__()}
    assert steps <= set(first_cells(page("sequences.md")))


def test_page_lists_every_argument_of_ldap_directory() -> None:
    arguments = set(inspect.signature(LdapDirectory).parameters)
    assert arguments <= set(first_cells(page("pytest.md")))


def test_page_lists_every_kind_of_warning() -> None:
    assert set(first_cells(section(page("verdict.md"), "Warnings"))) == {*WarningKind}


def test_command_line_page_lists_defaults() -> None:
    told = cli_page.page()
    assert "``" not in told
    assert "on new connections, instead of full handshakes. | `--no-tls-resume` |" in told
    assert "later by length and 64-bit digest. | `digest` |" in told


def test_result_has_the_attributes_listed_on_the_page() -> None:
    rows = re.findall(r"^\| (`result\..+?) \|", page("python-api.md"), re.MULTILINE)
    names = {name for row in rows for name in re.findall(r"`result\.(\w+)", row)}
    attributes = {*dir(Result), *(field.name for field in dataclasses.fields(Result))}
    assert "sent" in names
    assert names <= attributes


# docs/report.md explains every section of a report and every column of its table.

PAGE = (ROOT / "docs/report.md").read_text()
SOURCES = "\n".join(
    path.read_text() for path in sorted((ROOT / "sitebench/report/sections").glob("*.py"))
)


def test_every_section_of_a_report_is_explained() -> None:
    sections = re.findall(r"Section\(\s*\"[\w-]+\",\s*\"([^\"]+)\"", SOURCES)
    assert len(sections) >= 12
    for title in sections:
        assert f"\n## {title}\n" in PAGE


def test_every_stamp_of_a_report_is_explained() -> None:
    words = {stamp for line in re.findall(r"\n\| ([^|]+) \|", PAGE) for stamp in line.split("; ")}
    assert words >= set(STAMPS)
