"""A host across a network, on this machine: a network namespace, and a cable to it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from sitebench.errors import ProgramMissing
from sitebench.system.programs import find_program


@dataclass(frozen=True)
class RemoteHost:
    """Its address, ours, and what to put before a command that shall run there."""

    address: str
    ours: str
    before: tuple[str, ...]


@contextmanager
def remote_host() -> Iterator[RemoteHost]:
    """Make one; it goes away with the context. Raises ProgramMissing where that is not allowed."""
    ip = find_program("ip", "install iproute2")
    name, device = f"sitebench-{os.getpid()}", f"sbr{os.getpid()}"
    subnet = f"10.95.{os.getpid() % 250}"

    def run(*argv: str) -> None:
        done = subprocess.run([ip, *argv], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = f"no network namespace can be made here: {done.stderr.strip()}"
            raise ProgramMissing(said, "run it as root")

    with ExitStack() as stack:
        run("netns", "add", name)
        stack.callback(run, "netns", "del", name)
        inner = ("type", "veth", "peer", "name", "eth0", "netns", name)
        run("link", "add", device, *inner)
        run("addr", "add", f"{subnet}.1/30", "dev", device)
        run("link", "set", device, "up")
        run("-n", name, "addr", "add", f"{subnet}.2/30", "dev", "eth0")
        run("-n", name, "link", "set", "eth0", "up")
        run("-n", name, "link", "set", "lo", "up")
        yield RemoteHost(f"{subnet}.2", f"{subnet}.1", (ip, "netns", "exec", name))
