"""Completion by the shell: the script that click makes for it, shown or installed."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from sitebench.errors import BadInput
from sitebench.options.command import instead

COMPLETING = "_SITEBENCH_COMPLETE"
"""The variable with which the script asks."""

_SHELLS = ("bash", "zsh", "fish")


def _script(shell: str, ctx: click.Context) -> str:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(ctx.command, {}, "sitebench", COMPLETING).source()


def _shell() -> str:
    """Return the shell of the user."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise BadInput(
            f"there is no completion for {name or 'a shell that $SHELL does not name'}",
            f"set SHELL to the path of one of {', '.join(_SHELLS)}",
        )
    return name


def _show(ctx: click.Context) -> None:
    print(_script(_shell(), ctx))


def _install(ctx: click.Context) -> None:
    """Write the script, and have the shell read it as it starts."""
    shell, home = _shell(), Path.home()
    if shell == "fish":
        path, start = home / ".config/fish/completions/sitebench.fish", None
    else:
        path, start = home / f".local/share/sitebench/completion.{shell}", home / f".{shell}rc"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(shell, ctx), encoding="utf-8")
        if start is not None:
            line = f"source {shlex.quote(str(path))}\n"
            before = start.read_text(encoding="utf-8") if start.exists() else ""
            if line not in before:
                with start.open("a", encoding="utf-8") as file:
                    file.write(line if not before or before.endswith("\n") else f"\n{line}")
    except OSError as error:
        raise BadInput(
            f"cannot install completion: {error.filename}: {error.strerror}",
            "write what --show-completion prints to a file of your own",
        ) from error
    print(f"completion for {shell}: {path}; it works in the next shell")


OPTIONS = [
    instead(["--install-completion"], "Install completion for the current shell.", _install),
    instead(
        ["--show-completion"],
        "Show completion for the current shell, to copy it or customize the installation.",
        _show,
    ),
]
