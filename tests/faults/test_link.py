"""A link that is too slow: it is named, from the tester's side alone."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.faults.holding import grades, measured
from tests.faults.links import Side, throttled_link
from tests.support.cli import SITEBENCH

PORT = "3899"


@contextlib.contextmanager
def directory(side: Side) -> Iterator[str]:
    """Serve a thousand people at one end of a cable."""
    where = ("--host", side.address, "--port", PORT)
    process = subprocess.Popen(
        [*side.prefix, *SITEBENCH, "ils", "serve", "--entries", "1k", *where],
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
        process.communicate(timeout=30)


def test_a_throttled_link_is_called_the_bottleneck(tmp_path: Path) -> None:
    with throttled_link("20mbit") as (there, here), directory(there) as url:
        point = measured(
            tmp_path,
            *("ils", "run", "lookup", "--entries", "1k", "--users", "64", "--target", url),
            prefix=here.prefix,
        )
    assert (point["verdict"], point["valid"]) == ("network", True), point["evidence"]
    assert grades(point)["network"] == "primary"
    assert "queues on the way" in point["evidence"]
    # Of a target across the network nothing else is known, and nothing else is said.
    assert {grades(point)[each] for each in ("cpu", "memory", "disk")} == {"unknown"}
    assert "unwatched" in {each["kind"] for each in point["warnings"]}
