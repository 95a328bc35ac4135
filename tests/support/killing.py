"""Killing a command with all that it has begun."""

import contextlib
import subprocess

import psutil


def killed(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill the command first: it would tidy up if it saw the others end."""
    begun = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    for each in begun:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
