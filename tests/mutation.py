"""Mutation testing: faults put one at a time into the functions that make numbers.

    python -m tests.mutation                    every mutant of every file in tests/mutations.toml
    python -m tests.mutation --since main~5     of the files that changed since a revision
    python -m tests.mutation FILE ...           of these files
    python -m tests.mutation --rows 12          12 of the mutations that stand there by themselves

A mutant is one expression changed: `<` to `<=`, `+` to `-`, `and` to `or`, a number to another. The
tests of its file must fail (it is killed); one that survives is a fault that nothing would notice,
or no fault at all. Each mutant runs in a forked process that imports the changed file,
and so do the Python programs that the tests start: the source files are not
touched.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).parents[1]
_LISTED: dict[str, Any] = tomllib.loads((ROOT / "tests/mutations.toml").read_text())
TESTS: dict[str, list[str]] = _LISTED["tests"]
"""Files whose functions make numbers, with the tests that must notice a mutation."""

ROWS: list[dict[str, str]] = _LISTED["row"]
"""Mutations written by hand: test, file, and the texts before and after."""

_LONGEST_S = 60
"""A mutant may never end; this many seconds count as killed."""

_NO_TESTS = 5
"""The exit code of pytest if it ran no test: no mutant was killed."""

_CUSTOMIZED = """
from importlib.machinery import SourceFileLoader

_original = SourceFileLoader.get_code


def _get_code(self, name):
    if self.path == {path!r}:
        return compile({text!r}, self.path, "exec")
    return _original(self, name)


SourceFileLoader.get_code = _get_code
"""
"""Makes Python programs that find this text as `sitecustomize` import the changed file."""

_PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
    *((ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div)),
)
_SWAPS = dict(_PAIRS) | {b: a for a, b in _PAIRS} | {ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil"}


@dataclass(frozen=True)
class Mutant:
    """One change of a file's text."""

    file: str
    line: int
    before: str
    after: str
    text: str
    """The whole changed text of the file."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def mutants(file: str) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    source = (ROOT / file).read_text()
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        for changed in _changed(node):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            raw, after = source.encode(), f"({ast.unparse(changed)})"
            text = (raw[:start] + after.encode() + raw[end:]).decode()
            before = " ".join(raw[start:end].decode().split())
            yield Mutant(file, node.lineno, before, after[1:-1], text)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield expressions that are evaluated: no annotations, decorators or words of messages."""
    skipped = ("annotation", "returns", "decorator_list", "type_comment")
    for name, value in ast.iter_fields(node):
        if name in skipped:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _expressions(child)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the changed expressions of a node, one for each mutant."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            more = {bool: not value, int: value + 1, float: value * 1.5 or 1.0}
            yield ast.Constant(more[type(value)])
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield ast.Call(ast.Name(_NAMES[name]), node.args, node.keywords)
        case ast.Compare():
            for n, op in enumerate(node.ops):
                if swap := _SWAPS.get(type(op)):
                    ops: list[Any] = [*node.ops[:n], swap(), *node.ops[n + 1 :]]
                    yield ast.Compare(node.left, ops, node.comparators)
        case ast.BinOp(op=op) if swap := _SWAPS.get(type(op)):
            yield ast.BinOp(node.left, cast("ast.operator", swap()), node.right)
        case ast.BoolOp(op=op):
            yield ast.BoolOp(cast("ast.boolop", _SWAPS[type(op)]()), node.values)


def survives(
    file: str, text: str | None, tests: Sequence[str], marked: str = "not alone and not long"
) -> bool:
    """Run tests with a file's text replaced by `text`; None leaves the file unchanged."""
    child = os.fork()
    if not child:
        os._exit(_run(str(ROOT / file), text, tests, marked))
    deadline = time.monotonic() + _LONGEST_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) in (0, _NO_TESTS)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


def _run(path: str, text: str | None, tests: Sequence[str], marked: str) -> int:
    import pytest

    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        if text is not None:
            code = _CUSTOMIZED.format(path=path, text=text)
            (Path(folder) / "sitecustomize.py").write_text(code)
            os.environ["PYTHONPATH"] = folder
            exec(code, {})
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        # With assertions rewritten, pytest's own loader would import the tests without the change.
        quietly = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", "--assert=plain"]
        return int(pytest.main([*quietly, "-m", marked, *tests]))


def _all_of(files: Sequence[str]) -> int:
    """Print each file's survivors and the number of killed mutants."""
    alive = 0
    for file in files:
        if not survives(file, None, TESTS[file]):
            sys.exit(f"the tests of {file} fail without a mutant")
        killed = 0
        for mutant in mutants(file):
            if survives(file, mutant.text, TESTS[file]):
                alive += 1
                print(f"survived  {mutant}", flush=True)
            else:
                killed += 1
        print(f"{killed} killed  {file}", flush=True)
    return alive


def _rows(most: int) -> int:
    """Apply some of the mutations written by hand; print those that their tests do not kill."""
    alive = 0
    for row in ROWS[:: max(1, len(ROWS) // most)]:
        source = (ROOT / row["file"]).read_text()
        assert source.count(row["before"]) == 1, f"{row} is not in the file just once"
        text = source.replace(row["before"], row["after"])
        if survives(row["file"], text, [row["test"]], "not long"):
            alive += 1
            print(f"survived  {row}", flush=True)
    return alive


def main() -> None:
    parser = argparse.ArgumentParser(description="Put faults into functions that make numbers.")
    parser.add_argument("files", nargs="*", help="files to mutate", default=[])
    parser.add_argument("--since", help="only files that changed since this revision")
    parser.add_argument("--rows", type=int, help="so many of tests/mutations.toml instead")
    asked = parser.parse_args()
    # Imported once, before the forks: these imports take half of a pytest run.
    for name in ("hypothesis", "msgspec", "pytest", "rich.console", "sitebench._engine"):
        import_module(name)
    if asked.rows:
        sys.exit(bool(_rows(asked.rows)))
    files = asked.files or list(TESTS)
    if asked.since:
        argv = ["git", "diff", "--name-only", asked.since]
        changed = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
        files = [file for file in files if file in changed.stdout.splitlines()]
    sys.exit(bool(_all_of(files)))


if __name__ == "__main__":
    main()
