"""The name and the password of --web-login: from a file or the environment, never an argument."""

from __future__ import annotations

import os
from pathlib import Path

from sitebench.cockpit.options import LOGIN_VARIABLE
from sitebench.errors import BadFile, BadInput


def credentials(file: str | None) -> tuple[str, str]:
    """Read them; raises when there are none."""
    text = os.environ.get(LOGIN_VARIABLE, "") if file is None else _first_line(file)
    name, _, password = text.partition(":")
    if not (name and password):
        raise BadInput(
            f"--web-login finds no NAME:PASSWORD in {file or f'${LOGIN_VARIABLE}'}",
            f"write it into a file and name that with --login-file, or set ${LOGIN_VARIABLE}",
        )
    return name, password


def _first_line(file: str) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read the login file {file}: {error}", "name another one") from error
    return lines[0] if lines else ""
