"""What is known of the embedded web server."""

from typing import Any

import pytest

from sitebench.system.machine import usable_cores
from web_bench.options import WebOptions
from web_bench.targets.opening import open_target
from web_bench.workload import find


@pytest.mark.parametrize(
    ("workload", "asked", "cores"),
    [
        ("spice-inprocess", {}, 1),
        ("spice-inprocess", {"tls": True}, 1),
        # Some requests go to a second server, over TLS.
        ("ecommerce-inprocess", {}, 2),
        # A process for each request.
        ("spice-cgi", {}, usable_cores()),
    ],
)
def test_cores_are_those_it_may_use(workload: str, asked: dict[str, Any], cores: int) -> None:
    """Behind a server of one thread CGI used 139 % of "its 1 core"."""
    options = WebOptions(target="embedded", target_threads=1, files_per_class=1, **asked)
    target = open_target(options, [find(workload)])
    try:
        assert target.cores == min(cores, usable_cores())
    finally:
        target.stop()
