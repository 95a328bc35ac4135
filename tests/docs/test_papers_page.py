"""docs/papers.md has every table of the papers, and names tests that exist."""

import re
from pathlib import Path

import pytest

from ils_bench.paper.printed import PRINTED_1997 as ILS
from ils_bench.paper.printed import TABLES_1997
from ps_bench.paper.printed import PRINTED_1997 as PS
from ps_bench.paper.printed import TABLES_1997 as SITES
from tests.test_method_page import names_in
from web_bench.paper.printed import PAPERS

ROOT = Path(__file__).parents[2]
_HEAD, *_SECTIONS = re.split(r"^## (.+)$", (ROOT / "docs/papers.md").read_text(), flags=re.M)
SECTIONS = dict(zip(_SECTIONS[::2], _SECTIONS[1::2], strict=True))
_ROW = re.compile(r"^\| ([\d, -]+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = [row for text in SECTIONS.values() for row in _ROW.findall(text)]
_IN_A_ROW = re.compile(r"Tables? ((?:\d+(?:, | and | to )?)+)")


def numbers(section: str) -> set[int]:
    """Return the numbers of the tables that a section has rows of, also of `Tables 4 to 9`."""
    found = set()
    for named in _IN_A_ROW.findall(section):
        for least, most in re.findall(r"(\d+) to (\d+)", named):
            found |= set(range(int(least), int(most) + 1))
        found |= set(map(int, re.findall(r"\d+", named)))
    return found


@pytest.mark.parametrize("named", sorted({row[3] for row in ROWS} - {"none"}))
def test_every_row_names_a_test_that_exists(named: str) -> None:
    found = re.fullmatch(r"`([\w/.]+)::(\w+)`", named)
    assert found is not None, f"{named} names no test"
    path, name = found.groups()
    assert name in names_in(ROOT / path), f"{path} has no test {name}"


def test_a_row_without_a_test_says_why() -> None:
    bare = [row for row in ROWS if row[3] == "none"]
    assert all(len(here.split()) >= 3 for _, _, here, _ in bare)
    assert len(bare) < 0.15 * len(ROWS)


def test_every_printed_table_has_a_row() -> None:
    of_1997 = {int(table["number"]) for each in TABLES_1997.values() for table in each.values()}
    of_1997 |= {int(re.findall(r"\d+", name)[0]) for name in SITES}
    of_1997 |= {int(re.findall(r"\d+", each.number)[0]) for each in (*ILS, *PS)}
    tools = {"webbench1": "WebBench 1.0", "webbench3": "WebBench 3.0"}
    printed = {"Site Server": of_1997 | {10, 11, 15, 16}} | {
        tool: {
            int(n) for each in PAPERS[key].tables for n in re.findall(r"^Table (\d+)", each.number)
        }
        for key, tool in tools.items()
    }
    for words, wanted in printed.items():
        (section,) = [text for title, text in SECTIONS.items() if words in title]
        assert wanted <= numbers(section), words


def test_the_glossary_has_the_papers_words() -> None:
    page = (ROOT / "docs/glossary.md").read_text()
    for word in ("**SUT**", "**UPD**", "**platform transaction capacity**", "900 with 7,800"):
        assert word in page
