"""Secrets: read from a file or the environment, or typed at the terminal; never an argument.

What was typed, or is in a program's hands, lives in a file without a name, in memory
(memfd_create(2)): its path, which says nothing, goes where that of any other password file goes,
and whoever is started with `handed_on` can open it, as often as they need to. No other user can,
and it ends with the last of them.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from sitebench.errors import BadFile, BadInput, UnknownValue

BIND_PASSWORD = "SITEBENCH_BIND_PASSWORD"
KEY_PASSWORD = "SITEBENCH_TLS_KEY_PASSWORD"
UI_LOGIN = "SITEBENCH_UI_LOGIN"
VARIABLES = (BIND_PASSWORD, KEY_PASSWORD, UI_LOGIN)

_held: list[int] = []


_UNSCHEMED = re.compile(r"[^/@]*:[^/@]*@")
_AUTHORITY = re.compile(r"[^\s@:\[\]?#]*(:\d*)?|\[[^\s@\]]*\](:\d*)?")


def address(url: str) -> str:
    """Return an address, unless there may be a password in it: it would be kept, and shown.

    The refusal has no word of it. A slash in a password ends the authority, so what is no host
    and port before an @ is refused too.
    """
    rest = url.partition("://")[2]
    if _UNSCHEMED.match(url) or ("@" in rest and not _AUTHORITY.fullmatch(rest.partition("/")[0])):
        raise UnknownValue(
            "credentials stand in an address, where everybody can read them",
            "leave them out of it; docs/trust.md says where passwords go",
        )
    return url


def first_line(path: str, what: str, variable: str) -> str:
    """Return the first line of a file that holds a secret."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise BadFile(
            f"cannot read the {what} {path}: {getattr(error, 'strerror', None) or 'it is no text'}",
            f"name a readable file, or set ${variable}",
        ) from error
    return lines[0] if lines else ""


def given(path: str | None, what: str, variable: str) -> str | None:
    """Return a secret from its file, or else the environment; None where there is neither."""
    return os.environ.get(variable) if path is None else first_line(path, what, variable)


def typed(prompt: str, none: BadInput) -> str:
    """Ask at the terminal, without an echo, and return the path of what was typed.

    Raises `none` where there is no terminal to ask at, or nothing is typed.
    """
    if not sys.stdin.isatty():
        raise none
    with warnings.catch_warnings():
        # A terminal that cannot be silenced is none to ask at.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            text = getpass.getpass(prompt)
        except (EOFError, getpass.GetPassWarning):
            raise none from None
    if not text:
        raise none
    descriptor = _hold(text.encode())
    # Locust's web UI is this process with another program.
    os.set_inheritable(descriptor, True)
    return _path(descriptor)


@contextlib.contextmanager
def held(content: bytes) -> Iterator[str]:
    """Yield a path at which processes of ours, and nobody else, can read this until the end."""
    descriptor = _hold(content)
    try:
        yield _path(descriptor)
    finally:
        _held.remove(descriptor)
        os.close(descriptor)


def _hold(content: bytes) -> int:
    descriptor = os.memfd_create("secret")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    _held.append(descriptor)
    return descriptor


def _path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def handed_on() -> tuple[int, ...]:
    """Return the descriptors that a process of ours needs to read what is held here."""
    return tuple(_held)


def without_secrets(environment: Mapping[str, str], *kept: str) -> dict[str, str]:
    """Return an environment for a process that has no use for our secrets, but for those kept."""
    return {k: v for k, v in environment.items() if k in kept or k not in VARIABLES}
