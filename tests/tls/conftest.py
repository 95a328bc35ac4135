"""Certificates for the tests of TLS, created once."""

import pytest

from tests.tls.certificates import Authority, Certificate


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority of servers and clients."""
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


@pytest.fixture(scope="session")
def server(authority: Authority) -> Certificate:
    """The certificate of a server on this machine."""
    return authority.sign("server")


@pytest.fixture(scope="session")
def ann(authority: Authority) -> Certificate:
    """The certificate of a client."""
    return authority.sign(
        "ann", subject="/O=Intranet/OU=Dynamic/CN=Ann, of the tests", names="DNS:ann"
    )
