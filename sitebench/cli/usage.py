"""What is wrong with a command line, as one line and its remedy like every other error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from sitebench.errors import BadInput
from sitebench.options.spelling import nearest

_ALSO_CALLED = {
    "entries": ("people",),
    "measure": ("time", "run-time", "window"),
    "users": ("concurrency", "connections", "vus"),
    "clients": ("users", "concurrency", "connections", "vus"),
    "rate": ("qps", "rps", "arrival-rate"),
    "target": ("url", "host", "server", "to"),
    "out": ("output",),
    "password-file": ("password", "w", "bind-password"),
}
"""What people try who come from other tools, or from another command of this one."""
REMOVED = {
    "calm-time": "write the users over time as --stages",
    "calm-users": "write the users over time as --stages",
    "client": "leave it out: sites and web servers are measured by the native client",
    "connections": "leave it out: four ask at the same time",
    "discard": "leave it out, and delete the run file afterwards",
    "foresee": "measure the loads that you mean, with --clients",
    "hash-pool": "leave it out: with a slow hash 1,000 people log in differently, else all",
    "hold": "give a longer --measure: what is found is held for three windows",
    "holds": "leave it out: what is found is held three times",
    "one-password": "leave it out: seed --accounts FILE.csv writes each one's own",
    "precision": "leave it out: rates are told apart to 5 %",
    "ring": "leave it out: a million people are added before the oldest is deleted",
    "spike-time": "write the users over time as --stages",
    "step-time": "write the users over time as --stages",
    "step-users": "write the users over time as --stages",
    "window": "give more --repeats: each measures for a second",
}
"""What to do in place of options that commands had (docs/decisions/0196 and 0197)."""
_NOT_COMMANDS = {
    "version": "sitebench --version",
    "help": "sitebench --help",
    "ldap": "sitebench directory",
    "http": "sitebench web",
}


def as_bad_input(error: click.UsageError) -> BadInput:
    """Return what click found wrong, with what was probably meant."""
    context = error.ctx
    command = "sitebench" if context is None else context.command_path
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:].split(" (Possible options", 1)[0]
    message = message.split(" (Did you mean", 1)[0].split(" Did you mean", 1)[0].rstrip(".")
    meant = _meant(error, context)
    if meant == "--password-file":
        # An argument is in the list of processes.
        return BadInput(message, f"passwords come from {meant}, which names a file")
    tried = str(getattr(error, "option_name", "")).lstrip("-")
    if meant is None and tried in REMOVED:
        return BadInput(message, REMOVED[tried])
    remedy = f"`{command} --help` says what there is"
    return BadInput(message, f"did you mean {meant}? {remedy}" if meant else remedy)


def _meant(error: Any, context: Any) -> str | None:
    if context is None:
        return None
    tried = getattr(error, "option_name", None)
    if tried is not None:
        # Compared without dashes, which all options have in common.
        shown = [each for each in context.command.params if not getattr(each, "hidden", False)]
        known = [name for each in shown for name in each.opts if name.startswith("--")]
        bare = str(tried).lstrip("-")
        for option, others in _ALSO_CALLED.items():
            if bare in others and f"--{option}" in known:
                return f"--{option}"
        near = nearest(bare, [name.lstrip("-") for name in known], 0.7)
        return f"--{near}" if near else None
    words = error.format_message().split("'")
    if words[0].startswith("No such command") and len(words) > 1:
        return _command_meant(words[1], context)
    return None


def _command_meant(tried: str, context: Any) -> str | None:
    if tried in _NOT_COMMANDS:
        return f"`{_NOT_COMMANDS[tried]}`"
    if near := nearest(tried, context.command.list_commands(context)):
        return near
    found = list(_deeper(tried, context.command, context.command_path, context))
    return " or ".join(f"`{each}`" for each in found) if found else None


def _deeper(tried: str, group: Any, path: str, context: Any) -> Iterator[str]:
    """Yield the command lines below a group that end with this word: a command, or an operation."""
    for name, each in group.members():
        if hasattr(each, "members"):
            if tried in dict(each.members()):
                yield f"{path} {name} {tried}"
            else:
                yield from _deeper(tried, each, f"{path} {name}", context)
        elif name == "run" and any(_takes(tried, argument, context) for argument in each.params):
            yield f"{path} {name} {tried}"


def _takes(word: str, argument: Any, context: Any) -> bool:
    return isinstance(argument, click.Argument) and any(
        item.value == word for item in argument.shell_complete(context, word)
    )
