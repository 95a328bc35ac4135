"""Two network namespaces with a cable between them that carries so much and no more."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.groups import unavailable
from tests.support.programs import required_program

TARGET_ADDRESS, GENERATOR_ADDRESS = "10.93.61.1", "10.93.61.2"


@dataclass(frozen=True)
class Side:
    """One end of the cable: its namespace, its device and its address."""

    ip: Path
    name: str
    device: str
    address: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Return what to put before a command that shall run here."""
        return (str(self.ip), "netns", "exec", self.name)


@contextlib.contextmanager
def throttled_link(rate: str) -> Iterator[tuple[Side, Side]]:
    """Make a cable; return the target's side and the generator's."""
    ip, tc = required_program("ip"), required_program("tc")
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
            _do(
                *(str(tc), "-n", end.name, "qdisc", "add", "dev", end.device, "root", "tbf"),
                *("rate", rate, "burst", "16kb", "limit", "1mb"),
            )
        yield here, there


def _do(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{' '.join(argv)}: {done.stderr.strip()}")
