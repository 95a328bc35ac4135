"""Lines of product, tests and docs, by room: those that are neither blank nor a comment.

    python -m tests.lines               the lines of this checkout
    python -m tests.lines FOLDER        those of another checkout, such as a `git worktree`

Docstrings count; Rust's doc comments do not. The `mod tests` of a Rust file counts as tests. Rooms
are the folders of `sitebench/`, the other Python packages, and the crates of `native/`. Scenarios,
tables and other data are no code and are not counted.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_COMMENTS = {".rs": ("//",), ".js": ("//", "/*", "*"), ".css": ("/*", "*")}
"""Prefixes of lines that are only a comment."""
_TEST_MODULE = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)?mod \w+ \{\n.*", re.M | re.S)
_TEST_FILE = re.compile(r"^#\[cfg\(test\)\]\nmod (\w+);", re.M)


def lines_of(text: str, suffix: str) -> int:
    """Return how many lines of a file are neither blank nor a comment."""
    numbers = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    if suffix in (".py", ".pyi"):
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _NO_CODE:
                code.update(range(token.start[0], token.end[0] + 1))
        return len(numbers & code)
    starts = _COMMENTS.get(suffix, ())
    rows = text.splitlines()
    return sum(not rows[number - 1].lstrip().startswith(starts) for number in numbers)


def count_lines(root: Path) -> Counter[tuple[str, str]]:
    """Return the lines of a checkout by kind (product, tests, docs) and room."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], check=True, cwd=root, capture_output=True, text=True
    )
    paths = [Path(name) for name in listed.stdout.split("\0") if name and (root / name).is_file()]
    test_files = {
        (path.parent / name).with_suffix(".rs")
        for path in paths
        if path.suffix == ".rs"
        for name in _TEST_FILE.findall((root / path).read_text())
    }
    lines = Counter[tuple[str, str]]()
    for path in paths:
        if path.suffix not in (".py", ".pyi", ".rs", ".js", ".css", ".html", ".md"):
            continue
        text = (root / path).read_text()
        kind, room = _place(path)
        if path in test_files:
            kind = "tests"
        elif kind == "product" and path.suffix == ".rs":
            product = _TEST_MODULE.sub("", text)
            lines["tests", room] += lines_of(text, ".rs") - lines_of(product, ".rs")
            text = product
        lines[kind, room] += lines_of(text, path.suffix)
    return lines


def _place(path: Path) -> tuple[str, str]:
    """Return the kind of a file and its room."""
    top, *below = path.parts
    if path.suffix == ".md":
        return "docs", "docs/decisions" if path.parts[:2] == ("docs", "decisions") else top
    if top == "native":
        crate = "/".join(path.parts[:3])
        return ("product" if below[2:3] == ["src"] and below[0] != "fuzz" else "tests"), crate
    if top in ("tests", "benches", "examples", "deploy", ".ci"):
        return "tests", f"tests/{below[0]}" if top == "tests" and len(below) > 1 else top
    return "product", f"sitebench/{below[0]}" if top == "sitebench" and below[1:] else top


def main() -> None:
    """Print the table of the checkout that the command line names, or of this one."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    lines = count_lines(root)
    for kind in ("product", "tests", "docs"):
        rooms = sorted((room, number) for (of, room), number in lines.items() if of == kind)
        for room, number in rooms:
            print(f"{kind:8} {room:28} {number:8,}")
        print(f"{kind:8} {'in all':28} {sum(number for _, number in rooms):8,}\n")


if __name__ == "__main__":
    main()
