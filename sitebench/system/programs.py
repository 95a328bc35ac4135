"""Paths, commands and output of other programs."""

from __future__ import annotations

import os
import shutil
import sys

from sitebench.errors import ProgramMissing

_DAEMONS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/libexec")
"""Folders that are on no PATH (Red Hat's slapd), or on root's PATH alone (Debian's)."""


def find_program(name: str, remedy: str) -> str:
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *_DAEMONS)))
    if path is None:
        raise ProgramMissing(f"{name} is not installed on this machine", remedy)
    return path


def python_module(name: str) -> list[str]:
    """Return the command that runs a module, never a module of the current folder."""
    return [sys.executable, "-P", "-m", name]


def last_line(output: str) -> str:
    """Return the last line of a program's output, which usually has the error."""
    lines = output.strip().splitlines()
    return lines[-1].strip() if lines else "it wrote nothing"
