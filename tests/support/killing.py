"""Killing a command with all processes that it has started."""

import contextlib
import subprocess

import psutil


def killed(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill the command first, because it would clean up if it noticed the end of its children."""
    begun = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    for each in begun:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
