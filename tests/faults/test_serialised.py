"""Directories whose operations wait for each other while the cores are idle: that is named."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ils_bench import schema
from ils_bench.targets.address import Address
from sitebench.system.network import free_port
from tests.conformance.slapd import DEBIAN_MODULES, DEBIAN_SCHEMAS
from tests.faults.served import LOCALES, PEOPLE, Served
from tests.support.cli import in_process
from tests.support.relay import delaying, relayed
from tests.support.slapd_folder import answers
from tests.support.waiting import eventually

pytestmark = pytest.mark.long

PROXY = """\
include {core}
include {rtperson}
modulepath {modules}
moduleload back_ldap
moduleload back_monitor
threads 2
database ldap
suffix "o=Intranet"
uri "ldap://127.0.0.1:{behind}"
database monitor
"""


@contextlib.contextmanager
def proxy(slapd: Path, folder: Path, behind: int) -> Iterator[str]:
    """Run a slapd of two threads that asks another directory."""
    config, port = folder / "slapd.conf", free_port()
    config.write_text(
        PROXY.format(
            core=DEBIAN_SCHEMAS[0],
            rtperson=schema.FOLDER / schema.FILES["openldap"],
            modules=DEBIAN_MODULES,
            behind=behind,
        )
    )
    url = f"ldap://127.0.0.1:{port}"
    process = subprocess.Popen([slapd, "-d", "0", "-f", str(config), "-h", f"{url}/"])
    try:
        assert eventually(lambda: answers(Address("127.0.0.1", port)), 20)
        yield url
    finally:
        process.terminate()
        process.wait()


def test_a_slapd_of_two_threads_that_wait_is_serialised(
    directory: Served, slapd: Path, tmp_path: Path
) -> None:
    with (
        relayed(directory.port, delaying(lambda _: 0.01)) as behind,
        proxy(slapd, tmp_path, behind) as url,
    ):
        ran = in_process(
            *("ils", "peak", "lookup", "--target", url, "--clients", "16,32", "--threads", 1),
            *("--entries", PEOPLE, "--locales", ",".join(LOCALES), "--out", tmp_path / "run"),
            *("--warmup", "500ms", "--measure", "3500ms", "--json"),
        )
    one, twice, _ = ran.objects
    for point in (one, twice):
        assert (point["verdict"], point["valid"]) == ("serialised", True), point["evidence"]
        assert "all 2 threads of its pool were busy" in point["evidence"]
    # They did, unless this machine was busier in one window than in the other.
    no_more = twice["ops_per_s"] < 1.05 * one["ops_per_s"]
    assert ("32 users did" in twice["evidence"]) == no_more, twice["evidence"]
