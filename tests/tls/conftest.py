"""Certificates for the tests of TLS: made once."""

import pytest

from tests.tls.certificates import Authority, Certificate


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that servers and clients are signed by."""
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


@pytest.fixture(scope="session")
def server(authority: Authority) -> Certificate:
    """What a server on this machine shows."""
    return authority.sign("server")


@pytest.fixture(scope="session")
def ann(authority: Authority) -> Certificate:
    """What a client shows."""
    return authority.sign(
        "ann", subject="/O=Intranet/OU=Dynamic/CN=Ann, of the tests", names="DNS:ann"
    )
