"""One fixture with two servers: each test runs on the embedded directory and on slapd."""

import itertools
from collections.abc import Iterator

import pytest

from tests.conformance.content import OFFICE, SKELETON
from tests.conformance.ldap3_client import Clients, ldap3_clients
from tests.conformance.pair import Pair
from tests.conformance.running import KINDS, running
from tests.conformance.served import Served
from tests.conformance.tools import Tools

_scratch_numbers = itertools.count(1)


@pytest.fixture(scope="session", params=KINDS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A directory in which only an administrator may write."""
    folder = tmp_path_factory.mktemp(f"server-{request.param}")
    content = SKELETON + "\n" + OFFICE
    with running(request.param, folder, content, anonymous_writes=False) as served:
        yield served


@pytest.fixture(scope="session", params=KINDS)
def open_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A directory in which everybody may write, as in the paper and by default on loopback."""
    folder = tmp_path_factory.mktemp(f"open-{request.param}")
    with running(request.param, folder, SKELETON, anonymous_writes=True) as served:
        yield served


@pytest.fixture(scope="session")
def tools(server: Served) -> Tools:
    """OpenLDAP's clients for `server`."""
    return Tools(server)


@pytest.fixture
def scratch(server: Served) -> str:
    """DN of an empty container for this test alone."""
    name = f"scratch-{next(_scratch_numbers)}"
    dn = f"ou={name},ou=Scratch,o=Intranet"
    Tools(server).add(f"dn: {dn}\nobjectClass: organizationalUnit\nou: {name}\n")
    return dn


@pytest.fixture
def clients() -> Iterator[Clients]:
    """Connections of ldap3, closed when the test ends."""
    with ldap3_clients() as opened:
        yield opened


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both servers at the same time, open to everybody."""
    first, second = (tmp_path_factory.mktemp(f"pair-{kind}") for kind in KINDS)
    with (
        running(KINDS[0], first, SKELETON, anonymous_writes=True) as one,
        running(KINDS[1], second, SKELETON, anonymous_writes=True) as other,
        ldap3_clients() as both,
    ):
        yield Pair({served.kind: both.raw(served, anonymous=True) for served in (one, other)})
