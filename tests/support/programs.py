"""Programs the tests talk to, such as slapd and ldapsearch."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.support.waiting import left_s

# Debian keeps slapd in sbin, which is not on every user's PATH.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def required_program(name: str, packages: str = "") -> Path:
    """Return where `name` is installed; `packages` is the argument of .ci/system-packages for it.

    Without it the test is skipped on a developer's machine, and fails where CI is set: there a
    skipped test would hide that nothing was tested.
    """
    path = shutil.which(name, path=SEARCH_PATH)
    if path is None:
        refuse_without(name, packages)
    return Path(path)


def refuse_without(name: str, packages: str = "") -> NoReturn:
    """Skip the test, or fail where CI is set."""
    message = f"{name} is not installed: run .ci/system-packages {packages}".rstrip()
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def run_program(
    argv: Sequence[str | Path] | str, *, check: bool = False, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, within the time that the test has."""
    return subprocess.run(
        argv, capture_output=True, text=True, check=check, timeout=left_s(), **more
    )
