"""Help of commands: `-h` shows the most common options, `--help` shows all options.

The text is the command's docstring. Paragraphs that begin with `sitebench` are examples; paragraphs
that end with a colon introduce examples.
"""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from sitebench.options.option import PANELS

_COMMON = frozenset(
    (
        *("users", "clients", "rate", "measure", "repeats", "operations", "asked"),
        *("target", "base", "bind_dn", "names", "scenario", "path"),
        *("keepalive", "entries", "sizes", "objective", "out", "json"),
        # Options of `ui`, `serve`, `seed`, `clean` and `plan`.
        *("web_host", "web_port", "admin_dn", "read_only", "seeded", "forget"),
        *("host", "port", "to", "ldif", "suffix", "database", "docroot", "workload"),
        *("community", "active", "headroom", "size", "mix", "rates", "preset", "xlsx"),
    )
)
_SHORT_ENOUGH = 15
"""`-h` shows all options if they are not more than this number."""
_EXAMPLES = 3
"""Number of examples in `-h`."""

_MARGIN = 2
_LABELS = 24
"""Width up to which a label has its explanation on the same line."""
_WIDEST = 100
"""Largest width of lines, for readability."""

_UNBROKEN = "\N{NO-BREAK SPACE}"
_BOLD, _CYAN, _YELLOW = "1", "36", "33"


def examples(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a help text, and its examples with their introductions."""
    prose: list[str] = []
    example_lines: list[str] = []
    for paragraph in (" ".join(part.split()) for part in text.split("\n\n")):
        if paragraph:
            is_example = paragraph.startswith("sitebench ") or paragraph.endswith(":")
            (example_lines if is_example else prose).append(paragraph)
    return prose, example_lines


def visible(command: Any) -> list[Any]:
    parameters = [p for p in command.params if not getattr(p, "hidden", False)]
    headings = ("Arguments", *PANELS)
    return sorted(parameters, key=lambda parameter: headings.index(panel(parameter)))


def panel(parameter: Any) -> str:
    return str(getattr(parameter, "panel", None) or "Options")


def default(parameter: Any) -> str:
    return "required" if parameter.required else getattr(parameter, "shown", "")


def lines(command: Any, context: Any, *, short: bool) -> Iterator[str]:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    takes = " ".join(command.collect_usage_pieces(context))
    usage = f"Usage: {context.command_path} {takes}"
    yield from textwrap.wrap(usage, width, subsequent_indent=" " * 7)
    prose, example_lines = examples(command.help or "")
    for paragraph in prose[:1] if short else prose:
        yield ""
        yield from textwrap.wrap(paragraph, width, break_on_hyphens=False)
    if example_lines:
        yield from _heading("Examples")
        yield from _examples(_first(example_lines) if short else example_lines, width)
    if hasattr(command, "members"):
        yield from _commands(command, context, width)
    parameters = visible(command)
    options = [parameter for parameter in parameters if parameter.param_type_name == "option"]
    cut = short and len(options) > _SHORT_ENOUGH
    if cut:
        parameters = [p for p in parameters if p not in options or p.name in _COMMON]
    title = None
    for parameter in parameters:
        if panel(parameter) != title:
            title = panel(parameter)
            yield from _heading(title)
        yield from _row(parameter, width)
    if hasattr(command, "members"):
        yield from ("", f"`{context.command_path} COMMAND -h` lists the options of a command.")
    elif cut:
        yield from ("", f"--help shows all {len(options)} options.")
    elif len(options) > _SHORT_ENOUGH:
        yield from ("", "-h shows the commonest options.")


def _heading(title: str) -> Iterator[str]:
    yield ""
    yield _style(title, _BOLD)


def _style(text: str, code: str) -> str:
    """Colour a text; click removes colours if standard output is no terminal."""
    return text if os.environ.get("NO_COLOR") else f"\x1b[{code}m{text}\x1b[0m"


def _first(paragraphs: Sequence[str]) -> Sequence[str]:
    commands = [n for n, text in enumerate(paragraphs) if text.startswith("sitebench ")]
    return paragraphs[: commands[:_EXAMPLES][-1] + 1] if commands else ()


def _examples(paragraphs: Sequence[str], width: int) -> Iterator[str]:
    for text in paragraphs:
        if text.startswith("sitebench "):
            yield from _command_lines(text, width)
        else:
            yield from textwrap.wrap(text, width, initial_indent="  # ", subsequent_indent="  # ")


def _command_lines(command: str, width: int) -> Iterator[str]:
    r"""Yield a command in lines, of which all but the last end with `\` for the shell."""
    line = "  "
    for part in re.findall(r"(?:^|--)(?:[^'\s]|'[^']*'|\s(?!--))+", command):
        if len(line) + len(part) > width - 2 and line.strip():
            yield f"{line}\\"
            line = "    "
        line += f"{part} "
    yield line.rstrip()


def _commands(group: Any, context: Any, width: int) -> Iterator[str]:
    members = list(group.members())
    labels = {name: group.label(name) for name, _ in members}
    column = max(map(len, labels.values())) + 2 * _MARGIN
    for title in dict.fromkeys(member.panel for _, member in members):
        yield from _heading(title or "Commands")
        for name, member in members:
            if member.panel == title:
                text = examples(member.help or "")[0][0]
                yield from _row_lines([(labels[name], _CYAN)], text, column, width)


def _row(parameter: Any, width: int) -> Iterator[str]:
    also = ""
    if parameter.param_type_name == "argument":
        label = [(parameter.metavar.strip("[]"), _CYAN)]
    else:
        letters = [spelling for spelling in parameter.opts if not spelling.startswith("--")]
        name, *synonyms = (spelling for spelling in parameter.opts if spelling.startswith("--"))
        start = f"{letters[0]}, " if letters else "    "
        label = [(start + ", ".join((name, *parameter.secondary_opts)), _CYAN)]
        if parameter.metavar:
            label.append((f" {parameter.metavar}", _YELLOW))
        also = f"also {', '.join(synonyms)}" if synonyms else ""
    value = default(parameter)
    default_note = value if value in ("", "required") else f"default: {value}"
    # Lines break between notes, and never within a note.
    notes = "; ".join(note.replace(" ", _UNBROKEN) for note in (default_note, also) if note)
    text = f"{parameter.help or ''}{f' [{notes}]' if notes else ''}"
    yield from _row_lines(label, text, _LABELS + 2 * _MARGIN, width)


def _row_lines(
    label: Sequence[tuple[str, str]], text: str, column: int, width: int
) -> Iterator[str]:
    """Yield a label with its explanation, which begins below a long label."""
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False)
    lines = [line.replace(_UNBROKEN, " ") for line in lines]
    start = " " * _MARGIN + "".join(_style(*part) for part in label)
    label_width = _MARGIN + sum(len(t) for t, _ in label)
    if lines and label_width <= column - _MARGIN:
        start += " " * (column - label_width) + lines.pop(0)
    yield start
    yield from (" " * column + line for line in lines)
