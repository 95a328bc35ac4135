"""Two network namespaces with a cable between them, which can be slow or unplugged."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.groups import unavailable
from tests.support.cli import SITEBENCH
from tests.support.programs import required_program
from tests.support.waiting import ends_s

TARGET_ADDRESS, GENERATOR_ADDRESS = "10.93.61.1", "10.93.61.2"
PORT = "3899"


@dataclass(frozen=True)
class Side:
    """One end of the cable: its namespace, its device and its address."""

    ip: Path
    name: str
    device: str
    address: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return the prefix of a command that is to run at this end."""
        return (str(self.ip), "netns", "exec", self.name)

    def pull(self) -> None:
        """Unplug the cable: neither side is notified."""
        _do(str(self.ip), "-n", self.name, "link", "set", self.device, "down")

    def plug(self) -> None:
        _do(str(self.ip), "-n", self.name, "link", "set", self.device, "up")


@contextlib.contextmanager
def link() -> Iterator[tuple[Side, Side]]:
    """Create a cable; return the target's side and the generator's."""
    ip = required_program("ip")
    ends = [
        Side(ip, f"sitebench-{who}-{os.getpid()}", f"sb-{who}", address)
        for who, address in (("target", TARGET_ADDRESS), ("tester", GENERATOR_ADDRESS))
    ]
    with contextlib.ExitStack() as stack:
        for end in ends:
            _do(str(ip), "netns", "add", end.name)
            stack.callback(_do, str(ip), "netns", "del", end.name)
        here, there = ends
        _do(
            *(str(ip), "link", "add", here.device, "netns", here.name, "type", "veth"),
            *("peer", "name", there.device, "netns", there.name),
        )
        for end in ends:
            _do(str(ip), "-n", end.name, "addr", "add", f"{end.address}/30", "dev", end.device)
            _do(str(ip), "-n", end.name, "link", "set", end.device, "up")
            _do(str(ip), "-n", end.name, "link", "set", "lo", "up")
        yield here, there


@contextlib.contextmanager
def throttled_link(rate: str) -> Iterator[tuple[Side, Side]]:
    """Create a cable with this maximum rate."""
    tc = required_program("tc")
    with link() as ends:
        for end in ends:
            _do(
                *(str(tc), "-n", end.name, "qdisc", "add", "dev", end.device, "root", "tbf"),
                *("rate", rate, "burst", "16kb", "limit", "1mb"),
            )
        yield ends


@contextlib.contextmanager
def directory(side: Side, *more: str) -> Iterator[str]:
    """Serve a thousand people at one end of a cable."""
    where = ("--host", side.address, "--port", PORT)
    process = subprocess.Popen(
        [*side.prefix, *SITEBENCH, "ils", "serve", "--entries", "1k", *where, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("serving"), said
        yield f"ldap://{side.address}:{PORT}"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=ends_s())


def _do(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{' '.join(argv)}: {done.stderr.strip()}")
