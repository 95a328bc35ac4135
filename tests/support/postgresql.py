"""A PostgreSQL cluster of the test's own: a temporary folder, a free port, ended by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from sitebench.system.network import free_port
from tests.support.programs import required_program
from tests.support.waiting import ends_s, left_s

USERS = ("postgres", "nobody")
"""Users that root switches to: PostgreSQL refuses to run as root."""


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the address of a database."""
    # Not below pytest's folder: that is closed to the user PostgreSQL runs as.
    folder = Path(tempfile.mkdtemp(prefix="sitebench-pg-"))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    cluster, port = folder / "cluster", free_port()
    try:
        made = subprocess.run(
            [_program("initdb"), "-D", str(cluster), "-U", "postgres", "--auth=trust", "-N"],
            user=user,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        server = subprocess.Popen(
            [
                *(_program("postgres"), "-D", str(cluster), "-k", str(folder)),
                *("-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"),
            ],
            user=user,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            _wait(url)
            yield url
        finally:
            # SIGINT is its fast shutdown: clients are sent away.
            server.send_signal(signal.SIGINT)
            server.wait(ends_s())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def _program(name: str) -> str:
    """Return where Debian keeps a program of its newest PostgreSQL."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3])
    )
    return str(versions[-1] if versions else required_program(name))


def _wait(url: str) -> None:
    give_up = time.monotonic() + left_s()
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.OperationalError:
            assert time.monotonic() < give_up, "PostgreSQL did not start"
            time.sleep(0.1)
        else:
            return
