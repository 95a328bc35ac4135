"""The embedded directory as users start it: `sitebench ils serve` in a separate process."""

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.served import Served

SUFFIX = "o=Intranet"
ADMIN_DN = "cn=admin,o=Intranet"
ADMIN_PASSWORD = "correct horse"

STOP_WITHIN_S = 10.0


class ServeError(Exception):
    """`sitebench ils serve` did not start; the message contains its output."""


@contextlib.contextmanager
def running_embedded(
    folder: Path, *options: str, anonymous_writes: bool = False
) -> Iterator[Served]:
    """Run `sitebench ils serve` with `options`; its files are in `folder`."""
    command = [str(Path(sys.executable).parent / "sitebench"), "ils", "serve"]
    command += ["--port", "0", "--suffix", SUFFIX, *options]
    if not anonymous_writes:
        password_file = folder / "password"
        password_file.write_text(ADMIN_PASSWORD + "\n")
        command += ["--admin-dn", ADMIN_DN, "--admin-password-file", str(password_file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Served("embedded", "127.0.0.1", _port(process), SUFFIX, ADMIN_DN, ADMIN_PASSWORD)
        finally:
            _stop(process)


def _port(process: subprocess.Popen[bytes]) -> int:
    """Return the port from the first line, which is printed once the directory listens."""
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline().decode()
    told = re.search(r"ldaps?://127\.0\.0\.1:(\d+)", line)
    if told is None:
        raise ServeError(line + process.stderr.read().decode())
    return int(told[1])


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
