"""The command line in a process of its own, as a person or a pipeline runs it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SITEBENCH = (sys.executable, "-m", "sitebench.cli.main")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """What `--json` printed."""
        return [json.loads(line) for line in self.out.splitlines()]


def sitebench(*argv: str, cwd: Path | None = None, timeout_s: float = 110, **env: str) -> Ran:
    """Run a command to its end."""
    return python_module(SITEBENCH[2], *argv, cwd=cwd, timeout_s=timeout_s, **env)


def python_module(
    name: str, *argv: str, cwd: Path | None = None, timeout_s: float = 110, **env: str
) -> Ran:
    """Run `python -m NAME` to its end."""
    done = subprocess.run(
        [sys.executable, "-m", name, *argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "160", **env},
    )
    return Ran(done.returncode, done.stdout, done.stderr)
