"""Programs the tests talk to, such as slapd and ldapsearch."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

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
