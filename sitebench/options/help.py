"""What commands say of themselves: `-h` their commonest options, `--help` all of them.

A command's docstring is its text. Its paragraphs that begin with `sitebench` are examples, as are
those that end with a colon, which introduce one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from sitebench.options.option import PANELS

if TYPE_CHECKING:
    from rich.text import Text

_Function = TypeVar("_Function", bound=Callable[..., Any])

_COMMON = frozenset(
    (
        *("users", "clients", "rate", "warmup", "measure", "repeats", "operations", "asked"),
        *("target", "base", "bind_dn", "password_file", "keepalive", "scenario", "entries"),
        *("sizes", "objective", "out", "json"),
        # Of `ui`, `serve`, `seed`, `clean` and `plan`.
        *("web_host", "web_port", "admin_dn", "read_only", "seeded", "forget"),
        *("host", "port", "to", "ldif", "suffix", "database", "docroot", "workload"),
        *("community", "active", "headroom", "size", "mix", "rates", "preset", "xlsx"),
    )
)
_SHORT_ENOUGH = 15
"""So many options `-h` shows all."""
_EXAMPLES = 3
"""So many examples are in `-h`."""

_MARGIN = 2
_LABELS = 24
"""The widest label whose explanation begins beside it."""
_WIDEST = 100
"""Longer lines are hard to read."""

_UNBROKEN = "\N{NO-BREAK SPACE}"
_ASKED_SHORT = "sitebench.short"


class _Helped:
    """How both kinds of commands of a `App` show their help."""

    def parse_args(self, context: Any, args: list[str]) -> Any:
        context.meta[_ASKED_SHORT] = "-h" in args and "--help" not in args
        return super().parse_args(context, args)  # type: ignore[misc]

    def format_help(self, context: Any, formatter: Any) -> None:
        from rich.console import Console

        console = Console()
        width = min(console.width, _WIDEST)
        lines = _lines(self, context, width, short=context.meta.get(_ASKED_SHORT, False))
        for line in lines:
            console.print(line, soft_wrap=True, highlight=False, markup=False)


class Command(_Helped, TyperCommand):
    """A command with this help."""


class Group(_Helped, TyperGroup):
    """A group of commands with this help; some may have a long name too."""

    long_names: ClassVar[Mapping[str, str]] = {}

    def get_command(self, context: Any, name: str) -> Any:
        short = {long: name for name, long in self.long_names.items()}
        return super().get_command(context, short.get(name, name))

    def list_commands(self, context: Any) -> list[str]:
        return [*self.commands, *self.long_names.values()]

    def label(self, name: str) -> str:
        return f"{self.long_names[name]}, {name}" if name in self.long_names else name


class App(typer.Typer):
    """A `typer.Typer` with this help."""

    def __init__(self, **settings: Any) -> None:
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(**{"cls": Group, "context_settings": names, **settings})

    def command(self, name: str | None = None, **settings: Any) -> Callable[[_Function], _Function]:
        return super().command(name, **{"cls": Command, **settings})


def examples(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a help text, and the examples among them with what leads to them."""
    prose: list[str] = []
    found: list[str] = []
    for paragraph in (" ".join(each.split()) for each in text.split("\n\n")):
        if paragraph:
            example = paragraph.startswith("sitebench ") or paragraph.endswith(":")
            (found if example else prose).append(paragraph)
    return prose, found


def visible(command: Any) -> list[Any]:
    """Return a command's arguments and options, in the order in which help shows them."""
    found = [each for each in command.params if not getattr(each, "hidden", False)]
    return sorted(found, key=lambda each: _place(panel(each)))


def panel(parameter: Any) -> str:
    """Return the heading that a parameter stands under."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    return str(getattr(parameter, "rich_help_panel", None) or "Options")


def _place(title: str) -> int:
    """Return where a heading stands: arguments, then what a command alone has, then PANELS."""
    return ("Arguments", "Options", *PANELS).index(title)


def default(parameter: Any) -> str:
    """Return what holds unless told otherwise: of a pair one of both, of a lone switch nothing."""
    if parameter.required:
        return "required"
    value = parameter.default
    if isinstance(value, bool):
        value = (parameter.opts if value else parameter.secondary_opts or [""])[0]
    return "" if value is None else str(value)


def _lines(command: Any, context: Any, width: int, *, short: bool) -> Iterator[Text | str]:
    # typer sets what is required in braces.
    takes = (re.sub("[{}]", "", each) for each in command.collect_usage_pieces(context))
    usage = f"Usage: {context.command_path} {' '.join(takes)}".replace("......", "...")
    yield from textwrap.wrap(usage, width, subsequent_indent=" " * 7)
    prose, shown = examples(command.help or "")
    for paragraph in prose[:1] if short else prose:
        yield ""
        yield from textwrap.wrap(paragraph, width, break_on_hyphens=False)
    if shown:
        yield from _heading("Examples")
        yield from _examples(_first(shown) if short else shown, width)
    if isinstance(command, TyperGroup):
        yield from _commands(command, context, width)
    parameters = visible(command)
    options = [each for each in parameters if each.param_type_name == "option"]
    cut = short and len(options) > _SHORT_ENOUGH
    if cut:
        parameters = [each for each in parameters if each not in options or each.name in _COMMON]
    title = None
    for each in parameters:
        if panel(each) != title:
            title = panel(each)
            yield from _heading(title)
        yield from _row(each, width)
    if isinstance(command, TyperGroup):
        yield from ("", f"`{context.command_path} COMMAND -h` says what a command takes.")
    elif cut:
        yield from ("", f"--help shows all {len(options)} options.")
    elif len(options) > _SHORT_ENOUGH:
        yield from ("", "-h shows the commonest options.")


def _heading(title: str) -> Iterator[Text | str]:
    from rich.text import Text

    yield ""
    yield Text(title, "bold")


def _first(found: Sequence[str]) -> Sequence[str]:
    """Return the first examples, with what leads to them."""
    commands = [n for n, each in enumerate(found) if each.startswith("sitebench ")]
    return found[: commands[:_EXAMPLES][-1] + 1] if commands else ()


def _examples(found: Sequence[str], width: int) -> Iterator[str]:
    for each in found:
        if each.startswith("sitebench "):
            yield from _continued(each, width)
        else:
            yield from textwrap.wrap(each, width, initial_indent="  # ", subsequent_indent="  # ")


def _continued(command: str, width: int) -> Iterator[str]:
    r"""Yield a command in lines that a shell reads as one: options that do not fit follow `\`."""
    line = "  "
    for part in re.findall(r"(?:^|--)(?:[^'\s]|'[^']*'|\s(?!--))+", command):
        if len(line) + len(part) > width - 2 and line.strip():
            yield f"{line}\\"
            line = "    "
        line += f"{part} "
    yield line.rstrip()


def _commands(group: Any, context: Any, width: int) -> Iterator[Text | str]:
    from rich.text import Text

    found = [each for each in group.commands.values() if not each.hidden]
    labels = {each.name: group.label(each.name) for each in found}
    column = max(map(len, labels.values())) + 2 * _MARGIN
    for title in dict.fromkeys(getattr(each, "rich_help_panel", None) for each in found):
        yield from _heading(title or "Commands")
        for each in found:
            if getattr(each, "rich_help_panel", None) == title:
                text = examples(each.short_help or each.help or "")[0][0]
                yield from _beside(Text(labels[each.name], "cyan"), text, column, width)


def _row(parameter: Any, width: int) -> Iterator[Text | str]:
    """Yield the lines of one argument or option."""
    from rich.text import Text

    also = ""
    if parameter.param_type_name == "argument":
        label = Text(parameter.metavar or parameter.name.upper(), "cyan")
    else:
        letters = [each for each in parameter.opts if not each.startswith("--")]
        name, *others = (each for each in parameter.opts if each.startswith("--"))
        start = f"{letters[0]}, " if letters else "    "
        label = Text(start + ", ".join((name, *parameter.secondary_opts)), "cyan")
        if parameter.metavar:
            label.append(f" {parameter.metavar}", "yellow")
        also = f"also {', '.join(others)}" if others else ""
    value = default(parameter)
    said = value if value in ("", "required") else f"default: {value}"
    # A line ends between notes, not within one.
    notes = "; ".join(each.replace(" ", _UNBROKEN) for each in (said, also) if each)
    text = f"{parameter.help or ''}{f' [{notes}]' if notes else ''}"
    yield from _beside(label, text, _LABELS + 2 * _MARGIN, width)


def _beside(label: Text, text: str, column: int, width: int) -> Iterator[Text | str]:
    """Yield a label with its explanation beside it; below it where the label is too long."""
    from rich.text import Text

    # A value that is longer than a line stays whole.
    lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False)
    lines = [line.replace(_UNBROKEN, " ") for line in lines]
    start = Text(" " * _MARGIN).append_text(label)
    if lines and len(start) <= column - _MARGIN:
        start.append(" " * (column - len(start)) + lines.pop(0))
    yield start
    yield from (" " * column + line for line in lines)
