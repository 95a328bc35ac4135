"""docs/cli.md, made from the command line itself.

`python -m tests.docs.cli_page` writes it; a test tells when that is due.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from sitebench.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
HEAD = """# Command line

Made from the commands themselves by `python -m tests.docs.cli_page`: what `--help` says, to be
searched and linked to. Sizes may be written `10k` or `1m`, rates `20k`, times `500ms`, `30s` or
`2m`. What goes wrong is one line and its remedy; exit codes are those of
[load search](load-search.md#objectives).
"""
OWN = ("help", "install_completion", "show_completion")


def commands(
    group: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something, with the words that lead to it."""
    within: Any = get_command(app) if group is None else group
    for name, each in within.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, (*path, name))
        else:
            yield (*path, name), each


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *(_section(path, each) for path, each in commands())])


def _section(path: tuple[str, ...], command: Any) -> str:
    head = f"## sitebench {' '.join(path)}"
    foot = _prose(command.epilog or "")
    return "\n".join([head, "", *_prose(command.help), *_table(command), *foot])


def _prose(text: str) -> Iterator[str]:
    """Yield the help's paragraphs; those that are a command are set as one."""
    for paragraph in filter(None, text.split("\n\n")):
        if paragraph.startswith("sitebench "):
            yield f"    {' '.join(paragraph.split())}"
        else:
            yield " ".join(paragraph.split()).replace("<", "\\<")
        yield ""


def _table(command: Any) -> Iterator[str]:
    yield "| option | means | default |"
    yield "|---|---|---|"
    shown = [each for each in command.params if not each.hidden and each.name not in OWN]
    for each in sorted(shown, key=lambda each: each.param_type_name):
        yield f"| {_spelled(each)} | {_cell(each.help or '')} | {_default(each)} |"
    yield ""


def _default(each: Any) -> str:
    """Return what holds unless told otherwise: of a pair one of both, of a lone switch nothing."""
    if each.required:
        return "required"
    said = each.default
    if isinstance(said, bool):
        said = (each.opts if said else each.secondary_opts or [""])[0]
    return "" if said in (None, "") else f"`{said}`"


def _spelled(each: Any) -> str:
    if each.param_type_name == "argument":
        return f"`{(each.metavar or each.name).upper()}`"
    value = f" {each.metavar}" if each.metavar and not each.is_flag else ""
    return ", ".join(f"`{_cell(text + value)}`" for text in (*each.opts, *each.secondary_opts))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
