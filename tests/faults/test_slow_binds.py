"""A directory with slow binds: the delay is the directory's, not the load generator's."""

import socket
import time
from pathlib import Path

from tests.faults.served import Served
from tests.support.cli import in_process
from tests.support.relay import relayed

BOUND = 0x61
"""The tag of a BindResponse (RFC 4511 section 4.2.2), behind two message heads of a byte each."""
LANES, BIND_S = 8, 0.036


def _binding_slowly(piece: bytes, client: socket.socket) -> None:
    if piece[5] == BOUND:
        time.sleep(BIND_S)
    client.sendall(piece)


def test_slow_binds_are_not_reported_as_generator_delays(directory: Served, tmp_path: Path) -> None:
    # Eight lanes bind at most 222 times a second, and other answers take no time.
    with relayed(directory.port, _binding_slowly) as port:
        ran = in_process(
            *("ils", "run", "retrieve", "--entries", 300, "--locales", "en_US"),
            *("--target", f"ldap://127.0.0.1:{port}", "--users", LANES, "--threads", 1),
            *("--rate", 400, "--warmup", "500ms", "--measure", "2s", "--json"),
            cwd=tmp_path,
        )
    (point,) = ran.objects
    # Other programs of this machine may starve the load generator, which is another reason.
    assert "lanes were in use" not in point["evidence"]
    # All lanes wait for the target, so more lanes are the remedy.
    remedies = {each["kind"]: each["remedy"] for each in point["warnings"]}
    assert "use more users" in remedies["schedule-lag"]
