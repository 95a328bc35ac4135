"""Names that do not say what they hold, by room, against a budget that can only fall.

    python -m tests.vocabulary            the number of such names of each room
    python -m tests.vocabulary --check    fail where a room exceeds tests/vocabulary.toml
    python -m tests.vocabulary --write    lower the budgets to these numbers

Counted are assigned variables, parameters and attributes called by an empty word (a pronoun, a
participle, a preposition), and functions called by such a word or by a participle alone.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = Path("tests/vocabulary.toml")
_PACKAGES = ("sitebench", "ils_bench", "ps_bench", "web_bench")
_EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        found made said told known taken given asked shown kept held named each others there here
        mine own its lost came gone wanted chosen done left more most before after this that what
        who both alike ours theirs thing obj stuff whose which where why how then so every at by of
        on to over about around behind beside between within without until since per seen used meant
        """,
    )
)
_PARTICIPLE = re.compile(
    r"(?!feed|seed|need|speed|embed|exceed)[a-z]+ed"
    r"|begun|built|caught|cut|drawn|met|sent|spent|spoilt|written"
)
_HEADING = """\
# The most names of a room that may not say what they hold. `python -m tests.vocabulary --write`
# lowers a number; none rises.
"""


def empty_names(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the kind and the name of each name in a module that says nothing."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                kind = "variables"
            case ast.arg(arg=name):
                kind = "parameters"
            case ast.Attribute(attr=name, ctx=ast.Store()):
                kind = "attributes"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                kind = "functions"
            case _:
                continue
        word = name.strip("_")
        if word in _EMPTY_WORDS or (kind == "functions" and _PARTICIPLE.fullmatch(word)):
            yield node.lineno, kind, name


def names_by_room(root: Path) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the empty names of a checkout by room and kind, as `path:line: name`."""
    listed = _git(root, "ls-files", "-z", "--deduplicate", *(f"{top}/*.py" for top in _PACKAGES))
    rooms: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in map(Path, filter(None, listed.split("\0"))):
        if (root / path).is_file():
            for line, kind, name in sorted(empty_names((root / path).read_text())):
                rooms["/".join(path.parts[:-1][:2])][kind].append(f"{path}:{line}: {name}")
    return rooms


def _budgets(root: Path) -> Mapping[str, Mapping[str, int]]:
    return tomllib.loads((root / BUDGETS).read_text())


def surplus(root: Path) -> list[str]:
    """Return a message for each kind of names of a room that exceeds its budget.

    It lists the names in lines that are younger than the budget; all where none is.
    """
    budgets, messages = _budgets(root), []
    for room, kinds in names_by_room(root).items():
        for kind, places in kinds.items():
            if len(places) > (budget := budgets.get(room, {}).get(kind, 0)):
                young = _lines_since_budget(root, room)
                added = [place for place in places if place.rpartition(":")[0] in young]
                messages.append(
                    f"{room}: {len(places)} {kind} that do not say what they hold, {budget} allowed"
                    f" by {BUDGETS}; rename one of\n  " + "\n  ".join(added or places)
                )
    return messages


def _lines_since_budget(root: Path, room: str) -> set[str]:
    """Return a room's lines that are newer than the row of its budget, as `path:line`."""
    row = ("-G", f'^"{room}"', "--", str(BUDGETS))
    commit = _git(root, "log", "-1", "--format=%H", *row).strip()
    path, lines = "", set()
    for line in _git(root, "diff", "-U0", commit, "--", room).splitlines() if commit else ():
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif match := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(match[1]), int(match[2] or 1)
            lines |= {f"{path}:{number}" for number in range(start, start + count)}
    return lines


def _git(root: Path, *argv: str) -> str:
    return subprocess.run(
        ["git", *argv], check=True, cwd=root, capture_output=True, text=True
    ).stdout


def lower(root: Path) -> None:
    """Write the budgets that the names need, none higher than before."""
    rooms = names_by_room(root)
    lines = []
    for room, kinds in sorted(_budgets(root).items()):
        counts = {kind: min(n, len(rooms.get(room, {}).get(kind, ()))) for kind, n in kinds.items()}
        row = ", ".join(f"{kind} = {count}" for kind, count in counts.items() if count)
        lines += [f'"{room}" = {{ {row} }}\n'] if row else []
    (root / BUDGETS).write_text(_HEADING + "".join(lines))


def main() -> None:
    match sys.argv[1:]:
        case ["--check"]:
            if messages := surplus(ROOT):
                sys.exit("\n".join(messages))
        case ["--write"]:
            lower(ROOT)
        case _:
            for room, kinds in sorted(names_by_room(ROOT).items()):
                print(f"{room:24}", *(f"{kind} {len(names):4}" for kind, names in kinds.items()))


if __name__ == "__main__":
    main()
