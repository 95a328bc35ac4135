"""Pages have valid links, are in the navigation, and show existing commands."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs import cli_page, screenshots, shown
from tests.docs.cli_page import ROOT
from tests.docs.test_deploy import document
from tests.support.programs import run_program

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PACKAGE = ROOT / "PACKAGE.md"
PAGES = [ROOT / "README.md", PACKAGE, ROOT / "CONTRIBUTING.md", *DOCS]
FILES_SHOWN = {
    "locust": ("own_listener.py", "own_shape.py"),
    "pull-requests": ("github/compare.yml",),
    "scenarios": ("ldap/mix.toml",),
    "sequences": ("own_sequence.py",),
    "site-scenarios": ("login_site/login.toml",),
}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site generate them."""
    headings = re.findall(r"^#+ (.+)$", shown.FENCE.sub("", path.read_text()), re.MULTILINE)
    kept = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return {re.sub(r"\s+", "-", text.strip()) for text in kept}


def broken(page: Path) -> list[str]:
    found = []
    for link in LINK.findall(shown.FENCE.sub("", page.read_text())):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_and_anchors_have_a_target(page: Path) -> None:
    assert broken(page) == []


@pytest.mark.parametrize("page", [*DOCS, ROOT / "tests/truth/README.md"], ids=named)
def test_tests_named_in_pages_exist(page: Path) -> None:
    tests = re.findall(r"`([\w/.-]+\.(?:py|rs)::\w+)`", page.read_text())
    assert [test for test in tests if not shown.names_a_test(test)] == []


def test_broken_link_is_detected(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](#one) [b](#two) [c](other.md) [d](https://example.org)\n")
    assert broken(page) == ["#two", "other.md"]


def test_package_page_has_no_relative_links() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["readme"]
    assert ROOT / described == PACKAGE
    assert [link for link in LINK.findall(PACKAGE.read_text()) if "://" not in link] == []


@pytest.mark.parametrize("page", FILES_SHOWN)
def test_examples_in_a_page_equal_their_files(page: str) -> None:
    """GitHub and editors resolve no includes, so a page contains the text itself."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for example in FILES_SHOWN[page]:
        assert (ROOT / "examples" / example).read_text() in text, example


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_in_examples_can_be_parsed(page: Path) -> None:
    for argv in shown.console(page.read_text()):
        if argv[0].startswith("--"):
            continue
        shown.parse(argv)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_named_in_text_have_their_options(page: Path) -> None:
    text = page.read_text()
    for argv in (*shown.mentioned(text), *shown.scripted(text)):
        if argv[0].startswith("--") or len(argv) == 1:
            continue
        _, command = shown.command_of(argv)
        assert set(shown.options(argv)) <= shown.known_options(command), argv


def test_unknown_option_in_an_example_is_detected() -> None:
    assert [*shown.console("```console\n$ sitebench ils run \\\n    add --nope  # why\n```\n")] == [
        ["ils", "run", "add", "--nope"]
    ]
    with pytest.raises(Exception, match="--nope"):
        shown.parse(["ils", "run", "add", "--nope"])
    with pytest.raises(AssertionError, match="no such command"):
        shown.parse(["ils", "walk"])


def test_command_line_page_matches_the_commands() -> None:
    again = "run `python -m tests.docs.cli_page` and commit docs/cli.md"
    assert cli_page.PAGE.read_text() == cli_page.page(), again


def test_readme_sample_is_generated_from_the_output_of_a_sweep() -> None:
    printed = """embedded, 64 clients
Operation  Size  Rate/s
add          1k       7

What to do
- measure longer (add at 1k)
  add at 1k: too short
- another thing (add at 1k)
"""
    readme = screenshots.README.read_text()
    made = screenshots.with_sample(readme, printed)
    assert made.count(f"\n{printed.rpartition('- another')[0]}```\n\n") == 1
    sample = readme.partition(" --out directory.sitebench\n")[2].partition("```")[0]
    assert screenshots.with_sample(made, sample) == readme


def test_every_page_is_in_the_navigation_once() -> None:
    nav = document(ROOT / "mkdocs.yml")["nav"]
    pages = re.findall(r"'([\w/.-]+\.md)'", str(nav))
    assert sorted(pages) == sorted(str(page.relative_to(ROOT / "docs")) for page in DOCS)


def test_documentation_site_builds_and_loads_no_external_resources(tmp_path: Path) -> None:
    ran = run_program(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    pages = [*tmp_path.rglob("*.html")]
    assert len(pages) >= len(DOCS)
    fetched = r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=\"?(https?://[^\">\s]+)"
    for page in pages:
        assert re.findall(fetched, page.read_text()) == [], page


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md"], ids=named)
def test_pages_contain_no_discouraged_words(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", shown.FENCE.sub("", page.read_text()))
    odd = r"\b(?:some|no|every|any)body\b|\bwho(?:so)?ever\b|\banew\b|\bgone on with\b"
    assert re.findall(odd, prose, re.IGNORECASE) == []
