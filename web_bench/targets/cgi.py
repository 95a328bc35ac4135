"""The program of the CGI and FastCGI workloads."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from sitebench._engine import cgi_program
from sitebench.errors import BadInput

PATH = "/cgi-bin/sitebench-cgi"

KINDS = frozenset({"cgi", "cgi-env"})
"""Kinds of programs with a process per request."""


def install(folder: Path, program: str | None = None) -> Path:
    """Write the program, or a copy of the user's, into a new folder, and return the folder."""
    path = folder / PATH.lstrip("/")
    path.parent.mkdir(parents=True)
    if program is None:
        path.write_bytes(cgi_program())
    else:
        shutil.copyfile(check(program), path)
    path.chmod(0o755)
    return path.parent


def digest(program: str | None) -> str:
    """Return the digest of the user's program, or of the output of sitebench's own.

    sitebench's own program is compiled for each release, and its output alone matters to servers.
    """
    if program is not None:
        return hashlib.sha256(Path(program).read_bytes()).hexdigest()
    printed = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        run = install(Path(folder)) / Path(PATH).name
        for query in ("", "kind=simcgi", "kind=constant"):
            environment = {
                "GATEWAY_INTERFACE": "CGI/1.1",
                "QUERY_STRING": query,
                "HTTP_COOKIE": "a=b",
            }
            printed.update(
                subprocess.run([run], env=environment, capture_output=True, check=True).stdout
            )
    return printed.hexdigest()


def check(program: str) -> Path:
    path = Path(program)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise BadInput(f"{program} is no program", "name an executable file (chmod +x)")
    return path
