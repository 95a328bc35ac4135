"""Programs the tests talk to, such as slapd and ldapsearch."""

import os
import shutil
from pathlib import Path

import pytest

# Debian keeps slapd in sbin, which is not on every user's PATH.
SEARCH_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def required_program(name: str) -> Path:
    """Return where `name` is installed.

    Without it the test is skipped on a developer's machine, and fails where CI is set: there a
    skipped test would hide that nothing was tested.
    """
    found = shutil.which(name, path=SEARCH_PATH)
    if found is not None:
        return Path(found)
    message = f"{name} is not installed: run .ci/system-packages"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
