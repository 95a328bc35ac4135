"""A directory on a host of its own, whose network can be slow or unplugged."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator

from tests.distributed.network import Host, network
from tests.support.cli import SITEBENCH
from tests.support.waiting import ends_s

PORT = "3899"


@contextlib.contextmanager
def link(rate: str | None = None) -> Iterator[tuple[Host, Host]]:
    """Create a network, with a maximum rate; return the target's host and the generator's."""
    with network(2, rate) as net:
        target, generator = net.hosts
        yield target, generator


@contextlib.contextmanager
def directory(host: Host, *more: str) -> Iterator[str]:
    """Serve a thousand people on a host."""
    where = ("--host", host.address, "--port", PORT)
    process = subprocess.Popen(
        [*host.prefix, *SITEBENCH, "ils", "serve", "--entries", "1k", *where, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("serving"), said
        yield f"ldap://{host.address}:{PORT}"
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=ends_s())
