"""A directory on a host of its own, whose network can be slow or unplugged."""

import contextlib
from collections.abc import Iterator

from tests.distributed.network import Host, network
from tests.support.serving import serving

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
    where = ("--entries", "1k", "--host", host.address, "--port", PORT)
    with serving("ils", *where, *more, before=host.prefix) as (_, lines):
        assert lines[0].startswith("serving"), lines
        yield f"ldap://{host.address}:{PORT}"
