"""What `workers` forks a Locust worker from: it has imported Locust, and what suites measure."""

import sitebench.suite_base.process  # noqa: F401 # isort: skip # First: Locust patches.

import gevent  # type: ignore[import-untyped] # isort: skip

import ctypes
import os
import runpy
import sys
from pathlib import Path

_CLONE_NEWNET = 0x40000000


def main() -> None:
    """Run this code, in this network namespace and folder; then be the module of a worker."""
    first, network, folder, module, *sys.argv[1:] = sys.argv[1:]
    if network:
        # `os.setns` is Python 3.12's.
        libc = ctypes.CDLL(None, use_errno=True)
        with Path("/var/run/netns", network).open() as namespace:
            if libc.setns(namespace.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to {network}")
    gevent.reinit()
    os.chdir(folder)
    exec(first, {})
    runpy.run_module(module, run_name="__main__", alter_sys=True)
