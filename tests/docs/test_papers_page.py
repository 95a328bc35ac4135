"""docs/papers.md has every section and table of the papers, and names existing tests."""

import re
import tomllib
from pathlib import Path

import pytest

from ils_bench.paper.printed import PAPER
from ps_bench.paper.printed import PAPER as SITES
from tests.docs.shown import names_a_test
from web_bench.paper.printed import PAPERS as WEB

ROOT = Path(__file__).parents[2]
_HEAD, *_SECTIONS = re.split(r"^## (.+)$", (ROOT / "docs/papers.md").read_text(), flags=re.M)
SECTIONS = dict(zip(_SECTIONS[::2], _SECTIONS[1::2], strict=True))
_ROW = re.compile(r"^\| ([\d, -]+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = [row for text in SECTIONS.values() for row in _ROW.findall(text)]
PAPERS = tomllib.loads((Path(__file__).parent / "papers.toml").read_text())


def numbers(kind: str, section: str) -> set[int]:
    """Return the numbers of tables or figures in the rows of a section, also of `4 to 9`."""
    found = set()
    for named in re.findall(rf"{kind}s? ((?:\d+(?:, | and | to )?)+)", section):
        for least, most in re.findall(r"(\d+) to (\d+)", named):
            found |= set(range(int(least), int(most) + 1))
        found |= set(map(int, re.findall(r"\d+", named)))
    return found


def lines(section: str) -> set[int]:
    """Return the lines of a paper in the rows of a section."""
    spans = (each.split("-") for row in _ROW.findall(section) for each in row[0].split(", "))
    return {n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)}


def test_every_row_names_an_existing_test() -> None:
    tests = {row[3] for row in ROWS} - {"none"}
    assert [test for test in tests if not names_a_test(test.strip("`"))] == []


def test_row_without_a_test_gives_the_reason() -> None:
    bare = [row for row in ROWS if row[3] == "none"]
    assert all(len(here.split()) >= 3 for _, _, here, _ in bare)
    assert len(bare) < 0.15 * len(ROWS)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_section_table_and_figure_of_a_paper_has_a_row(paper: str) -> None:
    listed, has = SECTIONS[paper], PAPERS[paper]
    there = lines(listed)
    begins = [*(line for line, _ in has["sections"]), has["ends"] + 1]
    bare = [
        title
        for (line, title), end in zip(has["sections"], begins[1:], strict=True)
        if there.isdisjoint(range(line, end))
    ]
    assert bare == []
    assert set(range(1, has["tables"] + 1)) <= numbers("Table", listed)
    assert set(range(1, has["figures"] + 1)) <= numbers("Figure", listed)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_cites_existing_lines_of_the_paper(paper: str) -> None:
    there = lines(SECTIONS[paper])
    assert there
    assert PAPERS[paper]["sections"][0][0] <= min(there)
    assert max(there) <= PAPERS[paper]["ends"]


def test_every_printed_table_has_a_row_on_the_page() -> None:
    assert list(SECTIONS) == list(PAPERS)
    of_1997 = {int(table["number"]) for each in PAPER.tables.values() for table in each.values()}
    of_1997 |= {int(re.findall(r"\d+", name)[0]) for name in SITES.tables}
    of_1997 |= {
        int(re.findall(r"\d+", each.number)[0]) for each in (*PAPER.printed, *SITES.printed)
    }
    every = [of_1997 | {10, 11, 15, 16}] + [
        {int(n) for each in paper.tables for n in re.findall(r"^Table (\d+)", each.number)}
        for paper in WEB.values()
    ]
    for printed, (paper, has) in zip(every, PAPERS.items(), strict=True):
        assert printed == set(range(1, has["tables"] + 1)), paper


def test_glossary_contains_the_terms_of_the_papers() -> None:
    page = (ROOT / "docs/glossary.md").read_text()
    for word in ("**SUT**", "**UPD**", "**platform transaction capacity**", "900 with 7,800"):
        assert word in page
