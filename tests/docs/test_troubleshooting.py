"""docs/troubleshooting.md lists every message of verdicts, warnings and the monitor."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitebench.verdict.verdict import Bound
from sitebench.verdict.warning import WarningKind
from tests.docs.cli_page import ROOT

PAGE = (ROOT / "docs/troubleshooting.md").read_text()
SAID = " ".join(re.sub(r"\s*…[\s…]*", " … ", PAGE).split())
MODULES = [
    *sorted((ROOT / "sitebench/verdict").rglob("*.py")),
    *(ROOT / "sitebench/counts" / name for name in ("steady.py", "littles_law.py")),
    *(ROOT / "sitebench/tables" / name for name in ("advice.py", "screen.py")),
]
ELSEWHERE = ("ils_bench", "ps_bench", "web_bench", "sitebench/targets", "sitebench/locust")


def sentences(tree: ast.AST) -> Iterator[str]:
    """Yield every constant part of a text, but no docstring, that has three words or more."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            words = str(node.value).split()
            if len(words) > 2:
                yield " ".join(words)


def warned(tree: ast.AST, named: str) -> Iterator[ast.AST]:
    """Yield the calls of a function."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == named:
            yield each


def absent(tree: ast.AST) -> list[str]:
    return [sentence for sentence in sentences(tree) if sentence not in SAID]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_troubleshooting_page_lists_every_message_of_the_verdict(module: Path) -> None:
    assert absent(ast.parse(module.read_text())) == []


def test_troubleshooting_page_lists_the_warnings_of_suites_and_targets() -> None:
    found = 0
    for module in (path for folder in ELSEWHERE for path in (ROOT / folder).rglob("*.py")):
        for call in warned(ast.parse(module.read_text()), "PointWarning"):
            assert absent(call) == [], module
            found += 1
    assert found >= 5


def test_troubleshooting_page_lists_the_reasons_for_gaps_of_the_monitor() -> None:
    tree = ast.parse((ROOT / "sitebench/monitor/exporter.py").read_text())
    raised = [*warned(tree, "ValueError")]
    assert len(raised) >= 3
    for call in raised:
        assert absent(call) == []


@pytest.mark.parametrize("kind", [*WarningKind, *Bound])
def test_page_lists_every_kind_of_failure(kind: str) -> None:
    assert f"`{kind}`" in PAGE


def test_message_missing_from_the_page_is_detected() -> None:
    tree = ast.parse('def f(n):\n    "Not this one here."\n    return f"{n} cats sat on the mat"')
    assert absent(tree) == ["cats sat on the mat"]
