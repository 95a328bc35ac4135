"""Commands of the command line, made with click from options classes, with sitebench's own help.

    @command(_ExportOptions, argument("RUN", "Run file.", parse=Path), panel="Results")
    def export(options: _ExportOptions, run: Path) -> None:
        ...

The function gets an instance of the options class, and arguments by name. Its docstring is the
help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from sitebench.options import help as own_help
from sitebench.options.option import OneOf, Options, fields_of, named
from sitebench.options.option import Option as Spec
from sitebench.options.spelling import long_option, spellings

_HELP = {"help_option_names": ["-h", "--help"]}
_ASKED_SHORT = "sitebench.short"


class Typed(click.ParamType[Any]):
    """A click type with the parser of an option; errors begin with the option's name."""

    name = "text"

    def __init__(
        self, parse: Callable[[str], Any], about: str = "", words: Sequence[str] = ()
    ) -> None:
        self._parse = named(parse, about) if about else parse
        self._words = words or (parse.allowed if isinstance(parse, OneOf) else ())

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return self._parse(value) if isinstance(value, str) else value

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        if self._words:
            return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]
        file = param.human_readable_name in _FILES or param.metavar in _FILES
        return [CompletionItem(incomplete, type="file")] if file else []


_FILES = ("FILE", "RUN", "RUN...", "A", "B", "FOLDER")
"""Metavars of file names, which a shell completes."""


class Option(click.Option):
    """An option, with its heading in help."""

    def __init__(
        self, *declared: Any, panel: str = "Options", shown: str = "", **more: Any
    ) -> None:
        super().__init__(*declared, **more)
        self.panel = panel
        self.shown = shown
        """The default, as help tells it."""


class Argument(click.Argument):
    panel = "Arguments"
    hidden = False

    def __init__(self, *declared: Any, explanation: str, shown: str = "", **more: Any) -> None:
        super().__init__(*declared, **more)
        self.help = explanation
        self.shown = shown


class Command(click.Command):
    """A command with the help of `sitebench.options.help`."""

    panel: str | None = None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[_ASKED_SHORT] = "-h" in args and "--help" not in args
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return "\n".join(own_help.lines(self, ctx, short=ctx.meta.get(_ASKED_SHORT, False)))


Member = str | Callable[[], Command] | click.Command
"""A command of a group, a function that makes the command, or its "module:name"."""


class Group(Command, click.Group):
    """A group of commands, each made or imported on first use."""

    def __init__(
        self,
        name: str | None,
        members: Callable[[], Mapping[str, Member]],
        panel: str | None = None,
        long_names: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(name, context_settings=_HELP, no_args_is_help=True, **more)
        self._members, self.panel = members, panel
        self._loaded: dict[str, click.Command | None] = {}
        self.long_names = long_names or {}
        """Commands that have a second name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self._members(), *self.long_names.values()]

    def get_command(self, ctx: Any, name: str) -> click.Command | None:
        short = {long: name for name, long in self.long_names.items()}
        if name not in self._loaded:
            member: Any = self._members().get(short.get(name, name))
            if isinstance(member, str):
                member = resolve_name(member)
            is_command = member is None or isinstance(member, click.Command)
            self._loaded[name] = member if is_command else member()
        return self._loaded[name]

    def members(self) -> Iterator[tuple[str, click.Command]]:
        for name in self._members():
            if (command := self.get_command(None, name)) is not None:
                yield name, command

    def label(self, name: str) -> str:
        return f"{self.long_names[name]}, {name}" if name in self.long_names else name


def command(
    options: type[Any] | None,
    *more: click.Parameter,
    panel: str,
    name: str | None = None,
    explanation: str | None = None,
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function, which gets an instance of `options` and further parameters."""

    def decorate(function: Callable[..., Any]) -> Command:
        fields = [] if options is None else [f for f in fields_of(options) if f[1].command]

        def run(**values: Any) -> Any:
            if options is None:
                return function(**values)
            field_values = {f.name: values.pop(f.name) for f, _ in fields}
            if issubclass(options, Options):
                source = click.get_current_context().get_parameter_source
                line = ParameterSource.COMMANDLINE
                explicit = frozenset(name for name in field_values if source(name) is line)
                field_values["explicit"] = explicit
            return function(options(**field_values), **values)

        click_command = Command(
            name or function.__name__,
            callback=run,
            help=explanation or inspect.getdoc(function),
            params=[*more, *(_option(f.name, f.default, spec) for f, spec in fields)],
            context_settings=_HELP,
        )
        click_command.panel = panel
        return click_command

    return decorate


def invoke(command: click.Command, program: str, argv: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    click's own `main` prints an empty line for Ctrl-C, and exits on errors.
    """
    try:
        with command.make_context(program, [*argv]) as context:
            command.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return 0


def argument(
    metavar: str,
    explanation: str,
    *,
    name: str | None = None,
    parse: Callable[[str], Any] = str,
    words: Sequence[str] = (),
    required: bool = True,
    shown: str = "",
    several: bool = False,
) -> Argument:
    """Make an argument; the value is None if it is left out, and help shows `shown` as default."""
    return Argument(
        [name or metavar.removesuffix("...").lower()],
        explanation=explanation,
        type=Typed(parse, words=words),
        metavar=metavar if required and not shown else f"[{metavar}]",
        required=required and not shown,
        nargs=-1 if several else 1,
        shown=shown,
    )


def option(
    name: str, explanation: str, metavar: str, *, parse: Callable[[str], Any] = str, **more: Any
) -> Option:
    """Make an option of a single command, which is no field of an options class."""
    declared = long_option(name)
    return Option(
        [*more.pop("names", (declared,)), name],
        help=explanation,
        metavar=metavar,
        type=Typed(parse, declared, more.pop("words", ())),
        **more,
    )


def instead(names: Sequence[str], explanation: str, do: Callable[[click.Context], None]) -> Option:
    """Make an option that is executed instead of the command."""

    def act(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
        if is_set:
            do(ctx)
            ctx.exit()

    return Option(
        [*names], is_flag=True, is_eager=True, expose_value=False, callback=act, help=explanation
    )


def _option(name: str, default: Any, spec: Spec) -> Option:
    if spec.is_flag:
        declared = long_option(name)
        if default or spec.paired:
            declared += f"/{long_option(f'no_{name}')}"
        return Option(
            [declared, *spellings(name)[1:], name],
            is_flag=True,
            default=default,
            help=spec.help,
            panel=spec.panel,
            hidden=spec.hidden,
            shown=(declared.split("/")[0] if default else long_option(f"no_{name}"))
            if "/" in declared and default is not None
            else "",
        )
    names = spec.names or spellings(name)
    return Option(
        [*names, name],
        type=Typed(spec.parse, names[0]),
        default=default,
        help=spec.help,
        metavar=spec.metavar,
        panel=spec.panel,
        hidden=spec.hidden,
        shown="" if default is None else spec.show(default),
    )
