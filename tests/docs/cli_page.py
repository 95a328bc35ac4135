"""docs/cli.md, generated from the command line itself.

`python -m tests.docs.cli_page` writes it; a test fails if the page is outdated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sitebench.cli.main import app
from sitebench.options.help import default, examples, panel, visible
from sitebench.options.option import PANELS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
HEAD = """# Command line

`python -m tests.docs.cli_page` writes this page from the text of `--help`. The options shared by
several commands are listed [at the end](#options-of-several-commands). Sizes may be written as
`10k` or `1m`, rates as `20k`, times as `500ms`, `30s` or `2m`. `directory` is another name of
`ils`, and `site` is another name of `ps`. Every error is one line, followed by its remedy; for exit
codes see [load search](load-search.md#objectives).
"""
SEVERAL = "options-of-several-commands"
OWN = ("help",)


def commands(
    group: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every executable command with the words that name it."""
    within: Any = app if group is None else group
    for name, each in within.members():
        if hasattr(each, "members"):
            yield from commands(each, (*path, name))
        else:
            yield (*path, name), each


def page() -> str:
    """Return the page: each command with its own options, then the common options."""
    found = dict(commands())
    shared = _shared(found)
    tables = ((f"### {title}", "", *_table(rows)) for title, rows in shared.items())
    return "\n".join(
        [
            HEAD,
            *(line for path, each in found.items() for line in _section(path, each, shared)),
            "## Options of several commands",
            "",
            *(line for table in tables for line in table),
        ]
    )


def _shared(found: Mapping[tuple[str, ...], Any]) -> dict[str, list[Any]]:
    """Return the options common to more than two commands, by heading.

    If two groups of commands give a name different meanings, the heading has that of the larger
    group; the other commands list their own.
    """
    takers: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    options: dict[str, Any] = {}
    for path, command in found.items():
        for each in _options(command):
            takers[_row(each)].append(path)
            options[_row(each)] = each
    groups: dict[str, dict[str, str]] = {
        title: {} for title in (*PANELS, *(f"Every {name}" for name in ("vary", "peak", "ui")))
    }
    for row, paths in takers.items():
        group = groups.setdefault(_heading(paths, options[row]), {})
        rival = group.get(options[row].opts[0])
        if len(paths) > max(2, len(takers.get(rival or "", ()))):
            group[options[row].opts[0]] = row
    return {
        title: [options[row] for row in rows.values()] for title, rows in groups.items() if rows
    }


def _heading(paths: Sequence[tuple[str, ...]], option: Any) -> str:
    """Return the heading of an option: a command in all suites, a suite, or a panel."""
    if len({path[-1] for path in paths}) == 1:
        return f"Every {paths[0][-1]}"
    if len({path[0] for path in paths}) == 1:
        return f"Commands of sitebench {paths[0][0]}"
    return panel(option)


def _options(command: Any) -> list[Any]:
    return [
        each
        for each in visible(command)
        if each.param_type_name == "option" and each.name not in OWN
    ]


def _section(
    path: tuple[str, ...], command: Any, shared: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    yield f"## sitebench {' '.join(path)}"
    yield ""
    prose, shown = examples(command.help)
    for paragraph in prose:
        yield paragraph.replace("<", "\\<")
        yield ""
    for each in shown:
        yield f"    {each}" if each.startswith("sitebench ") else each
        yield ""
    elsewhere = {_row(each) for rows in shared.values() for each in rows}
    own = [each for each in visible(command) if each.name not in OWN]
    yield from _table([each for each in own if _row(each) not in elsewhere])
    taken = {_row(each) for each in _options(command)}
    if also := [text for title, rows in shared.items() if (text := _also(title, rows, taken))]:
        yield f"The command also takes [shared options](#{SEVERAL}): {'; '.join(also)}."
        yield ""


def _also(title: str, rows: Sequence[Any], taken: set[str]) -> str:
    """Name the options of a group that a command has: all, all but some, or only some."""
    link = f"[{title}](#{title.lower().replace(' ', '-')})"
    names = {_row(each): f"`{each.opts[0]}`" for each in rows}
    has = [name for row, name in names.items() if row in taken]
    lacks = [name for row, name in names.items() if row not in taken]
    if not has:
        return ""
    if not lacks:
        return link
    if len(lacks) <= len(has) // 2:
        return f"{link} except {', '.join(lacks)}"
    return f"from {link}: {', '.join(has)}"


def _table(rows: Sequence[Any]) -> Iterator[str]:
    if rows:
        yield "| option | means | default |"
        yield "|---|---|---|"
        yield from map(_row, rows)
        yield ""


def _row(each: Any) -> str:
    value = default(each)
    if value not in ("", "required"):
        value = f"`{value}`"
    return f"| {_spelled(each)} | {_cell(each.help or '')} | {value} |"


def _spelled(each: Any) -> str:
    if each.param_type_name == "argument":
        return f"`{each.metavar.strip('[]')}`"
    value = f" {each.metavar}" if each.metavar and not each.is_flag else ""
    spelled: list[str] = [*each.opts, *each.secondary_opts]
    spelled[0] += value
    return ", ".join(f"`{_cell(text)}`" for text in spelled)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
