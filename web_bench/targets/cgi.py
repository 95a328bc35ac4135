"""The program behind the CGI and FastCGI workloads, where a server can run it."""

from __future__ import annotations

from pathlib import Path

from sitebench._engine import cgi_program

PATH = "/cgi-bin/sitebench-cgi"


def install(folder: Path) -> Path:
    """Write the program into a new folder, and return that folder: nothing else is in it."""
    program = folder / PATH.lstrip("/")
    program.parent.mkdir(parents=True)
    program.write_bytes(cgi_program())
    program.chmod(0o755)
    return program.parent
