"""Secrets, from a file, the environment or the terminal, but never from an argument.

A secret that was typed, or that a program passed, is kept in an anonymous file in memory
(memfd_create(2)), whose path is used like a password file's. Child processes that inherit the
descriptors of `handed_on` can open this file, and it is gone when the last of them has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import re
import resource
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

from sitebench.errors import BadFile, BadInput, UnknownValue

BIND_PASSWORD = "SITEBENCH_BIND_PASSWORD"
KEY_PASSWORD = "SITEBENCH_TLS_KEY_PASSWORD"
UI_LOGIN = "SITEBENCH_UI_LOGIN"
WEB_TOKEN = "SITEBENCH_WEB_TOKEN"
_VARIABLES = (BIND_PASSWORD, KEY_PASSWORD, UI_LOGIN, WEB_TOKEN)

FIRST_DESCRIPTOR = 100
"""The lowest number of an inherited descriptor, above the descriptors of a child's own files."""
_descriptors: list[int] = []


_UNSCHEMED = re.compile(r"[^/@]*:[^/@]*@")
_AUTHORITY = re.compile(r"[^\s@:\[\]?#]*(:\d*)?|\[[^\s@\]]*\](:\d*)?")


def address(url: str) -> str:
    """Return an address; refuse an address that possibly contains a password.

    A password can contain a slash, which ends the authority. So every @ behind a slash is refused
    too.
    """
    rest = url.partition("://")[2]
    if _UNSCHEMED.match(url) or ("@" in rest and not _AUTHORITY.fullmatch(rest.partition("/")[0])):
        raise UnknownValue(
            "an address contains credentials, which every user can read there",
            "leave them out; `sitebench docs safety` explains where to put passwords",
        )
    return url


def first_line(path: str, kind: str, variable: str) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise BadFile(
            f"cannot read the {kind} {path}: {reason}",
            f"name a readable file, or set ${variable}",
        ) from error
    return lines[0] if lines else ""


def read_once(path: str, kind: str, variable: str) -> str:
    """Return a path that can be read repeatedly: a pipe is replaced by a copy in memory."""
    if Path(path).is_fifo():
        return _hold_for_children(first_line(path, kind, variable))
    return path


def read(path: str | None, kind: str, variable: str) -> str | None:
    """Return a secret from its file, or else from the environment; None if both lack it."""
    return os.environ.get(variable) if path is None else first_line(path, kind, variable)


def prompt_for_secret(prompt: str, none: BadInput) -> str:
    """Prompt at the terminal, without echo, and return the path of a file with the answer.

    Raises `none` without a terminal or an answer.
    """
    if not sys.stdin.isatty():
        raise none
    with warnings.catch_warnings():
        # If echo cannot be turned off, the warning becomes an error, and nothing is typed.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            text = getpass.getpass(prompt)
        except (EOFError, getpass.GetPassWarning):
            raise none from None
    if not text:
        raise none
    return _hold_for_children(text)


def _hold_for_children(text: str) -> str:
    """Hold a secret until this process and its children end; return its path."""
    descriptor = _hold(text.encode())
    # Locust's web UI replaces this process by exec, which closes other descriptors.
    os.set_inheritable(descriptor, True)
    return _path(descriptor)


@contextlib.contextmanager
def hold_for_test(content: bytes) -> Iterator[str]:
    """Yield a path at which only processes of this test can read `content`."""
    descriptor = _hold(content)
    try:
        yield _path(descriptor)
    finally:
        _descriptors.remove(descriptor)
        os.close(descriptor)


def _hold(content: bytes) -> int:
    with os.fdopen(os.memfd_create("secret"), "wb") as file:
        file.write(content)
        file.flush()
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        first = min(FIRST_DESCRIPTOR, limit // 2)
        descriptor = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, first)
    _descriptors.append(descriptor)
    return descriptor


def _path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def handed_on() -> tuple[int, ...]:
    """Return the descriptors that a child needs to read the secrets of this process."""
    return tuple(_descriptors)


def without_secrets(environment: Mapping[str, str], *names: str) -> dict[str, str]:
    """Return the environment without sitebench's secrets, except for the secrets in `names`."""
    return {k: v for k, v in environment.items() if k in names or k not in _VARIABLES}
