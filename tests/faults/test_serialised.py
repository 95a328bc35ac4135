"""Directories whose operations wait for each other while cores are idle are named as serialised."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ils_bench import schema
from ils_bench.targets.openldap import fill, write_config
from sitebench.seeders.ldif import write_ldif
from sitebench.seeders.people import Spec, generate
from sitebench.system.network import free_port
from tests.conformance.slapd import DEBIAN_MODULES, DEBIAN_SCHEMAS
from tests.faults.holding import put_ahead
from tests.faults.served import LOCALES, PEOPLE, Served
from tests.support.cli import in_process
from tests.support.programs import listens, running_server
from tests.support.relay import delaying, relayed
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

INDICES = """\
index cn,sn,givenName,description eq,sub
"""


@contextlib.contextmanager
def proxy(slapd: Path, folder: Path, behind: int) -> Iterator[str]:
    """Run a slapd of two threads that forwards requests to another directory."""
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
    with running_server([slapd, "-d", "0", "-f", config, "-h", f"{url}/"], port):
        yield url


@contextlib.contextmanager
def writer(slapd: Path, folder: Path) -> Iterator[str]:
    """Run a slapd of 16 threads with one writer at a time, and many indexes."""
    people = Spec(PEOPLE, locales=LOCALES)
    config, port, ldif = write_config(folder, people), free_port(), folder / "people.ldif"
    config.write_text(config.read_text().replace("index cn eq", INDICES))
    write_ldif(generate(people).population, ldif)
    fill(config, [(PEOPLE, ldif.read_bytes())])
    url = f"ldap://127.0.0.1:{port}"
    process = subprocess.Popen([slapd, "-d", "0", "-f", str(config), "-h", f"{url}/"])
    put_ahead(process.pid)  # and so will be the threads that it starts
    try:
        assert eventually(lambda: listens(port))
        yield url
    finally:
        process.terminate()
        process.wait()


def peak(folder: Path, operation: str, url: str, clients: str) -> list[dict[str, Any]]:
    ran = in_process(
        *("ils", "peak", operation, "--target", url, "--clients", clients, "--threads", 1),
        *("--entries", PEOPLE, "--locales", ",".join(LOCALES), "--out", folder / "run"),
        *("--warmup", "500ms", "--measure", "3500ms", "--json"),
    )
    return ran.objects[:2]


def test_slapd_with_one_writing_thread_is_serialised(slapd: Path, tmp_path: Path) -> None:
    with writer(slapd, tmp_path) as url:
        one, twice = peak(tmp_path, "add", url, "8,16")
    assert one["valid"], one["evidence"]
    assert (twice["verdict"], twice["valid"]) == ("serialised", True), twice["evidence"]
    assert "16 users did" in twice["evidence"]
    # No single thread shows it: each thread writes for a part of the time.
    assert twice["resources"]["target"]["busiest_thread_s"] < twice["measure_s"] / 2


def test_slapd_of_two_threads_is_serialised(directory: Served, slapd: Path, tmp_path: Path) -> None:
    with (
        relayed(directory.port, delaying(lambda _: 0.01)) as behind,
        proxy(slapd, tmp_path, behind) as url,
    ):
        one, twice = peak(tmp_path, "lookup", url, "16,32")
    for point in (one, twice):
        assert (point["verdict"], point["valid"]) == ("serialised", True), point["evidence"]
        assert "all 2 threads of its pool were busy" in point["evidence"]
    # The rates agree, unless the machine was busier in one window than in the other.
    no_more = twice["ops_per_s"] < 1.05 * one["ops_per_s"]
    assert ("32 users did" in twice["evidence"]) == no_more, twice["evidence"]
