"""click's errors about a command line, turned into errors with a remedy."""

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
"""Options by their names in other tools, or in other commands of sitebench."""
REMOVED = {
    "calm-time": "write the users over time as --stages",
    "calm-users": "write the users over time as --stages",
    "client": "leave it out: sites and web servers are measured by the native client",
    "connections": "leave it out: there are four connections",
    "discard": "leave it out, and delete the run file afterwards",
    "foresee": "measure given loads with --clients",
    "hash-pool": (
        "leave it out: with a slow hash there are 1,000 different passwords, else one for each "
        "person"
    ),
    "hold": "give a longer --measure: the rate is held for three windows",
    "holds": "leave it out: the rate is held three times",
    "one-password": "leave it out: seed --accounts FILE.csv writes the password of each person",
    "precision": "leave it out: the search ends with a precision of 5 %",
    "ring": "leave it out: a million people are added before the oldest is deleted",
    "spike-time": "write the users over time as --stages",
    "step-time": "write the users over time as --stages",
    "step-users": "write the users over time as --stages",
    "window": "give more --repeats, of a second each",
}
"""Remedies for removed options (docs/decisions/0196 and 0197)."""
_NOT_COMMANDS = {
    "version": "sitebench --version",
    "help": "sitebench --help",
    "ldap": "sitebench directory",
    "http": "sitebench web",
    "workloads": "sitebench web operations",
}


def as_bad_input(error: click.UsageError) -> BadInput:
    """Return click's error, with the nearest valid spelling."""
    context = error.ctx
    command = "sitebench" if context is None else context.command_path
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:].split(" (Possible options", 1)[0]
    message = message.split(" (Did you mean", 1)[0].split(" Did you mean", 1)[0].rstrip(".")
    guess = _guess(error, context)
    if guess == "--password-file":
        # No option takes a password itself, because every user can read the arguments of a process.
        return BadInput(message, f"passwords come from {guess}, which names a file")
    tried = str(getattr(error, "option_name", "")).lstrip("-")
    if guess is None and tried in REMOVED:
        return BadInput(message, REMOVED[tried])
    remedy = f"`{command} --help` lists the options and arguments"
    return BadInput(message, f"did you mean {guess}? {remedy}" if guess else remedy)


def _guess(error: Any, context: Any) -> str | None:
    if context is None:
        return None
    tried = getattr(error, "option_name", None)
    if tried is not None:
        # Names are compared without dashes: with the dashes, all options would look alike.
        visible = [param for param in context.command.params if not getattr(param, "hidden", False)]
        names = [name for param in visible for name in param.opts if name.startswith("--")]
        bare = str(tried).lstrip("-")
        for option, synonyms in _ALSO_CALLED.items():
            if bare in synonyms and f"--{option}" in names:
                return f"--{option}"
        near = nearest(bare, [name.lstrip("-") for name in names], 0.7)
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
    commands = list(_deeper(tried, context.command, context.command_path, context))
    return " or ".join(f"`{command}`" for command in commands) if commands else None


def _deeper(tried: str, group: Any, path: str, context: Any) -> Iterator[str]:
    """Yield the command lines of a group that end with the command or operation `tried`."""
    for name, member in group.members():
        if hasattr(member, "members"):
            if tried in dict(member.members()):
                yield f"{path} {name} {tried}"
            else:
                yield from _deeper(tried, member, f"{path} {name}", context)
        elif name == "run" and any(_takes(tried, argument, context) for argument in member.params):
            yield f"{path} {name} {tried}"


def _takes(word: str, argument: Any, context: Any) -> bool:
    return isinstance(argument, click.Argument) and any(
        item.value == word for item in argument.shell_complete(context, word)
    )
