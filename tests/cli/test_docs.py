"""`sitebench docs` prints pages, from a checkout or a wheel; messages refer to pages by it."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitebench._engine import scenario_schema
from sitebench.cli.docs import pages
from sitebench.scenario.script import read
from sitebench.suite import SUITES
from tests.docs.cli_page import commands
from tests.support.cli import in_process

ROOT = Path(__file__).parents[2]
DATA = ROOT / "sitebench" / "data"
MODULES = [
    module
    for package in ("sitebench", *SUITES)
    for module in sorted((ROOT / package).rglob("*.py"))
    if DATA not in module.parents
]
NAMED = re.compile(r"`sitebench docs ([\w/.-]+)`")


def test_docs_without_a_page_lists_pages_with_headings() -> None:
    ran = in_process("docs").check(0)
    assert re.search(r"^tuning +Tuning: vary one thing, hold the rest$", ran.out, re.MULTILINE)
    assert re.search(r"^examples/flask_site/site.toml$", ran.out, re.MULTILINE)
    listed = {line.split()[0] for line in ran.out.splitlines()[:-1]}
    assert listed == {*pages(), "schema"}
    assert {each.stem for each in (ROOT / "docs").glob("*.md")} <= listed


@pytest.mark.parametrize("page", sorted(pages()))
def test_documentation_page_is_printed_unchanged(page: str) -> None:
    ran = in_process("docs", page)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.rstrip("\n") == pages()[page].read_text().rstrip("\n")


def test_schema_of_scenario_files_is_printed_for_editors() -> None:
    """The page told users to import a private module."""
    ran = in_process("docs", "schema").check(0)
    assert json.loads(ran.out) == json.loads(scenario_schema())
    assert "_engine" not in (ROOT / "docs/scenarios.md").read_text()


def test_printed_scenario_example_is_valid(tmp_path: Path) -> None:
    ran = in_process("ps", "example").check(0)
    (tmp_path / "site.toml").write_text(ran.out)
    assert len(read(str(tmp_path / "site.toml")).operations) > 1


def test_wheel_contains_pages_and_examples(tmp_path: Path) -> None:
    """The files that `make build` puts beside the modules, in a folder without the checkout."""
    source = tmp_path / "source"
    shutil.copytree(ROOT / "docs", source / "docs")
    shutil.copytree(ROOT / "examples", source / "examples")
    skipped = shutil.ignore_patterns("data", "__pycache__")
    shutil.copytree(ROOT / "sitebench", source / "sitebench", ignore=skipped)
    make = ("make", "--silent", "--file", ROOT / "Makefile", "data")
    subprocess.run(make, cwd=source, check=True)
    site = tmp_path / "site-packages"
    shutil.copytree(source / "sitebench", site / "sitebench")
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import sitebench; "
        "from sitebench.cli.docs import pages; print(*pages(), sitebench.__file__)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, site], cwd=tmp_path, capture_output=True, check=True
    )
    assert ran.stdout.decode().split() == [*pages(), str(site / "sitebench/__init__.py")]


def messages(module: Path) -> list[str]:
    """Return the texts of a module, without its docstrings."""
    tree = ast.parse(module.read_text())
    documents = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    return [
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
        if id(each) not in documents
    ]


def test_messages_and_help_refer_to_pages_by_the_docs_command() -> None:
    texts = [text for module in MODULES for text in messages(module)]
    texts += [command.help for _, command in commands()]
    assert [text for text in texts if re.search(r"\bdocs/", text)] == []
    named = {page for text in texts for page in NAMED.findall(text)}
    assert named - {"PAGE"} <= set(pages())
