"""The program behind the CGI and FastCGI workloads, where a server can run it."""

from __future__ import annotations

from pathlib import Path

from sitebench._engine import cgi_program

NAME = "sitebench-cgi"


def install(folder: Path) -> Path:
    """Write the program into a new folder, and return that folder: nothing else is in it."""
    made = folder / "cgi-bin"
    made.mkdir()
    program = made / NAME
    program.write_bytes(cgi_program())
    program.chmod(0o755)
    return made
